import { type EventType, eventCatalogue } from '@clinical-launch/contracts';
import type { Channel } from 'amqplib';

/** Where the bus is, and the prefix of all that it declares there, so that several systems can share a broker. */
export type Broker = { readonly url: string; readonly namespace?: string };

/** The exchanges and queues of one namespace, by name. */
export type Topology = {
  readonly events: string;
  readonly deadLetters: string;
  queueOf(consumer: string): string;
  deadLetterQueueOf(consumer: string): string;
};

/**
 * How often a message may come back before the broker itself makes a dead letter of it: the guard against one that
 * ends the process each time. A queue cannot be declared again with other arguments, hence no option.
 */
export const deliveryLimit = 30;

/** RabbitMQ 4 drops a message after 20 deliveries unless a limit is set, and 3 refuses "none": looking is no delivery. */
const practicallyUnlimited = 1_000_000;

const anyType = '#';

/**
 * Names what a namespace consists of.
 * @throws TypeError when the name of the namespace, or later of a consumer, could be confused with another.
 */
export function topologyOf(namespace = 'clinical-launch'): Topology {
  assertName(namespace, 'namespace');
  const queueOf = (consumer: string) => {
    assertName(consumer, 'consumer');
    return `${namespace}.${consumer}`;
  };
  return {
    events: `${namespace}.events`,
    deadLetters: `${namespace}.dead-letters`,
    queueOf,
    deadLetterQueueOf: (consumer) => `${queueOf(consumer)}.dead-letters`,
  };
}

function assertName(name: string, what: string): void {
  if (/^[a-z0-9-]{1,100}$/.test(name)) return;
  throw new TypeError(`The name of a ${what} has up to 100 lower-case letters, digits and hyphens`);
}

/** Declares the two exchanges; nothing happens when they exist. */
export async function declareExchanges(channel: Channel, { events, deadLetters }: Topology): Promise<void> {
  await channel.assertExchange(events, 'topic', { durable: true });
  await channel.assertExchange(deadLetters, 'direct', { durable: true });
}

/**
 * Declares a consumer's queue and its dead-letter queue, and makes the bindings those of the wanted types. What is
 * already so stays so. Dead letters move at least once, which the broker only promises with `reject-publish`.
 */
export async function declareConsumer(
  channel: Channel,
  topology: Topology,
  { name, types }: { readonly name: string; readonly types?: readonly EventType[] },
): Promise<void> {
  const queue = topology.queueOf(name);
  const deadLetterQueue = topology.deadLetterQueueOf(name);
  await channel.assertQueue(deadLetterQueue, {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': practicallyUnlimited },
  });
  await channel.bindQueue(deadLetterQueue, topology.deadLetters, queue);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': deliveryLimit,
      'x-dead-letter-exchange': topology.deadLetters,
      'x-dead-letter-routing-key': queue,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  });
  const wanted: readonly string[] = types ?? [anyType];
  for (const type of wanted) await channel.bindQueue(queue, topology.events, type);
  // AMQP cannot list bindings, but the catalogue is closed; to remove one that is not there is no error.
  const unwanted = [anyType, ...Object.keys(eventCatalogue)].filter((type) => !wanted.includes(type));
  for (const type of unwanted) await channel.unbindQueue(queue, topology.events, type);
}
