export * from './dead-letters.ts';
export * from './event-bus.ts';
export type { StoredDeadLetter } from './event-message.ts';
export * from './in-memory-outbox.ts';
export * from './in-process-bus.ts';
export { connectRabbitMq, type RabbitMqBus } from './rabbitmq-bus.ts';
export type { BusLogger } from './rabbitmq-link.ts';
export type { Broker } from './rabbitmq-topology.ts';
export * from './relay.ts';
