import type { EventType } from '@clinical-launch/contracts/events/catalogue';

/**
 * The address of the broker, and the prefix of the names of all exchanges and queues. The prefix lets several
 * systems share a broker.
 */
export type Broker = { readonly url: string; readonly namespace?: string };

/** The names of the exchanges and queues of one namespace. */
export type Topology = {
  readonly events: string;
  readonly deadLetters: string;
  queueOf(consumer: string): string;
  deadLetterQueueOf(consumer: string): string;
};

/**
 * The number of deliveries after which the broker itself dead-letters a message, for example a message that
 * crashes the process each time. It is a constant, because a queue cannot be declared again with other
 * arguments.
 */
export const deliveryLimit = 30;

/**
 * The delivery limit of dead-letter queues. It is high, because each listing counts as a delivery. If a queue
 * states no limit, RabbitMQ 4 drops a message after 20 deliveries. RabbitMQ 3 has no value for "unlimited".
 */
const practicallyUnlimited = 1_000_000;

const anyType = '#';

/**
 * Returns the names of the exchanges and queues of a namespace.
 * @throws TypeError if the namespace is malformed. `queueOf` also throws if the name of a consumer is
 *   malformed
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
  throw new TypeError(`The name of a ${what} must have at most 100 lower-case letters, digits and hyphens`);
}

/** An exchange, for AMQP and for a RabbitMQ definitions file. All exchanges and queues are durable. */
export type Exchange = { readonly name: string; readonly type: 'topic' | 'direct' };
export type Queue = { readonly name: string; readonly arguments: Readonly<Record<string, string | number>> };
export type Binding = { readonly exchange: string; readonly queue: string; readonly routingKey: string };

/**
 * The name of a consumer, and the event types that it receives. If `types` is absent, it receives all types.
 */
export type WantedEvents = { readonly name: string; readonly types?: readonly EventType[] };

/** Returns the exchanges of a namespace. They route events by type, and dead letters by queue name. */
export const exchangesOf = ({ events, deadLetters }: Topology): readonly Exchange[] => [
  { name: events, type: 'topic' },
  { name: deadLetters, type: 'direct' },
];

/**
 * Returns the queue and the dead-letter queue of a consumer, with their bindings. The dead-letter strategy
 * `at-least-once` requires the overflow behaviour `reject-publish`.
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
