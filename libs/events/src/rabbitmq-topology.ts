import type { EventType } from '@clinical-launch/contracts';

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

/**
 * RabbitMQ 4 drops a message after 20 deliveries unless a limit is set, and 3 refuses "none": looking is no delivery.
 */
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

/** An exchange, a queue and a binding as AMQP and as a definitions file of RabbitMQ have them. All are durable. */
export type Exchange = { readonly name: string; readonly type: 'topic' | 'direct' };
export type Queue = { readonly name: string; readonly arguments: Readonly<Record<string, string | number>> };
export type Binding = { readonly exchange: string; readonly queue: string; readonly routingKey: string };

/** A consumer's queue by its name, and the types that it wants: every type where none is named. */
export type WantedEvents = { readonly name: string; readonly types?: readonly EventType[] };

/** The exchanges of a namespace: events by type, and dead letters by the name of the queue that they come from. */
export const exchangesOf = ({ events, deadLetters }: Topology): readonly Exchange[] => [
  { name: events, type: 'topic' },
  { name: deadLetters, type: 'direct' },
];

/**
 * A consumer's queue and its dead-letter queue, with their bindings. Dead letters move at least once, which the
 * broker only promises with `reject-publish`.
 */
export function queuesOf(
  topology: Topology,
  { name, types }: WantedEvents,
): { readonly queues: readonly Queue[]; readonly bindings: readonly Binding[] } {
  const queue = topology.queueOf(name);
  const deadLetterQueue = topology.deadLetterQueueOf(name);
  const wanted: readonly string[] = types ?? [anyType];
  return {
    queues: [
      {
        name: deadLetterQueue,
        arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': practicallyUnlimited },
      },
      {
        name: queue,
        arguments: {
          'x-queue-type': 'quorum',
          'x-delivery-limit': deliveryLimit,
          'x-dead-letter-exchange': topology.deadLetters,
          'x-dead-letter-routing-key': queue,
          'x-dead-letter-strategy': 'at-least-once',
          'x-overflow': 'reject-publish',
        },
      },
    ],
    bindings: [
      { exchange: topology.deadLetters, queue: deadLetterQueue, routingKey: queue },
      ...wanted.map((type) => ({ exchange: topology.events, queue, routingKey: type })),
    ],
  };
}
