/** Everything that loads the RabbitMQ client, for processes with a broker. */
export * from './dead-letters.ts';
export type { StoredDeadLetter } from './event-message.ts';
export { connectRabbitMq, type RabbitMqBus } from './rabbitmq-bus.ts';
export * from './rabbitmq-definitions.ts';
export type { BusLogger } from './rabbitmq-link.ts';
export { type Broker, topologyOf } from './rabbitmq-topology.ts';
