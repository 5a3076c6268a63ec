import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { errorCode } from '@clinical-launch/runtime/logged-error';
import type { Channel, ChannelModel } from 'amqplib';
import { exchangesOf, queuesOf, type Topology, type WantedEvents } from './rabbitmq-topology.ts';

/** The consumers whose queues must exist before a connection is used. */
type Declarations = { readonly topology: Topology; readonly consumers: readonly WantedEvents[] };

/**
 * Declares the exchanges and the queues of the consumers, and updates the bindings to the consumed event
 * types. Does not change exchanges and queues that exist. If the broker user has no configure permission,
 * only checks that the exchanges and queues exist.
 * @throws Error if an exchange or queue is missing, or exists with other arguments
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

/** The AMQP 0-9-1 reply code `access-refused`. */
const accessRefused = 403;

/** Calls `work` with a separate channel, because the broker closes a channel after a refusal. */
async function onChannel(connection: ChannelModel, work: (channel: Channel) => Promise<void>): Promise<void> {
  const channel = await connection.createChannel();
  // A refusal also rejects the pending call, so the listener does nothing.
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
  // AMQP cannot list bindings. Removes the bindings of all other types. Removing a binding that does not
  // exist is not an error.
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
