import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { errorCode } from '@clinical-launch/runtime/logged-error';
import type { Channel, ChannelModel } from 'amqplib';
import { exchangesOf, queuesOf, type Topology, type WantedEvents } from './rabbitmq-topology.ts';

/** The declarations that a connection needs before it is used. */
type Declarations = { readonly topology: Topology; readonly consumers: readonly WantedEvents[] };

/**
 * Declares the exchanges and the consumers' queues, and updates the bindings to the consumed types. Does not
 * change existing exchanges and queues. If the user has no configure permission, only checks that they exist.
 * @throws Error if one is missing, or exists with other arguments
 */
export async function declareTopology(connection: ChannelModel, declarations: Declarations): Promise<void> {
  try {
    await onChannel(connection, (channel) => declare(channel, declarations));
  } catch (error) {
    if (errorCode(error) !== accessRefused) throw error;
    await onChannel(connection, (channel) => check(channel, declarations)).catch((cause: unknown) => {
      throw new Error('An exchange or a queue is missing, and this user has no permission to declare it', {
        cause,
      });
    });
  }
}

/** AMQP 0-9-1 reply codes: access-refused */
const accessRefused = 403;

/** Works on a separate channel, because the broker closes a channel after a refusal. */
async function onChannel(connection: ChannelModel, work: (channel: Channel) => Promise<void>): Promise<void> {
  const channel = await connection.createChannel();
  // A refusal rejects the pending call, so the event needs no handling.
  channel.on('error', () => undefined);
  await work(channel);
  await channel.close();
}

async function declare(channel: Channel, { topology, consumers }: Declarations): Promise<void> {
  for (const { name, type } of exchangesOf(topology))
    await channel.assertExchange(name, type, { durable: true });
  for (const consumer of consumers) await declareConsumer(channel, topology, consumer);
}

async function declareConsumer(channel: Channel, topology: Topology, consumer: WantedEvents): Promise<void> {
  const { queues, bindings } = queuesOf(topology, consumer);
  for (const queue of queues) {
    await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
  }
  for (const { queue, exchange, routingKey } of bindings)
    await channel.bindQueue(queue, exchange, routingKey);
  // AMQP cannot list bindings. So the bindings of all other types are removed, which is not an error if they
  // do not exist.
  const wanted = new Set(bindings.map(({ routingKey }) => routingKey));
  const unwanted = ['#', ...Object.keys(eventCatalogue)].filter((type) => !wanted.has(type));
  const queue = topology.queueOf(consumer.name);
  for (const type of unwanted) await channel.unbindQueue(queue, topology.events, type);
}

async function check(channel: Channel, { topology, consumers }: Declarations): Promise<void> {
  for (const { name } of exchangesOf(topology)) await channel.checkExchange(name);
  for (const consumer of consumers) {
    for (const { name } of queuesOf(topology, consumer).queues) await channel.checkQueue(name);
  }
}
