import type { Channel, ChannelModel } from 'amqplib';
import type { Consumer } from './event-bus.ts';
import { batchSizeOf } from './handle-in-parts.ts';
import { declareTopology } from './rabbitmq-declare.ts';
import { ChannelDeliveries, type DeliveryDependencies } from './rabbitmq-delivery.ts';
import { type ConnectionOptions, keepConnected } from './rabbitmq-link.ts';
import { deliveryLimit, type Topology } from './rabbitmq-topology.ts';

type SubscriptionOptions = Pick<DeliveryDependencies, 'consumer' | 'retryAfterMs' | 'bury' | 'verify'> & {
  readonly link: ConnectionOptions;
  readonly topology: Topology;
  /** The maximum number of prefetched messages, including those that wait for a retry. */
  readonly prefetch?: number | undefined;
};

type Session = { readonly channel: Channel; readonly consumerTag: string };

/** Returns the prefetch of a consumer, which lets the next batch arrive while one batch is handled. */
const prefetchFor = (consumer: Consumer) => Math.max(32, 2 * batchSizeOf(consumer));

/**
 * The subscription of a consumer to its queue. It uses its own connection, because the broker can block the
 * connections of publishers and still deliver on other connections.
 */
export type Subscription = {
  isUp(): boolean;
  /** Cancels the consumer, waits for the current events, returns waiting messages, and disconnects. */
  stop(): Promise<void>;
};

/**
 * Passes the events of a queue to a consumer in order, until `stop` is called. Passes one event at a time, or
 * batches if the consumer handles batches. A failed event returns to the queue after a wait, and any instance
 * may receive it next. After a limited number of attempts, the event becomes a dead letter. Events are
 * acknowledged only after they were handled, so an event may be delivered twice. Resolves when the consumer
 * is subscribed. If the broker is down, resolves immediately, and subscribes when the broker is available.
 * @throws TypeError if `retryAfterMs` allows more attempts than the delivery limit of the queue
 */
export async function subscribe(options: SubscriptionOptions): Promise<Subscription> {
  const { consumer, retryAfterMs, bury, verify, topology } = options;
  const prefetch = options.prefetch ?? prefetchFor(consumer);
  if (retryAfterMs.length >= deliveryLimit) {
    throw new TypeError(`An event can be retried at most ${deliveryLimit - 1} times`);
  }
  const queue = topology.queueOf(consumer.name);
  const dependencies = {
    queue,
    consumer,
    retryAfterMs,
    bury,
    verify,
    logger: options.link.logger,
    takeTurn: inTurn(),
  };
  const stopping = new AbortController();
  const underWay = new Set<ChannelDeliveries>();

  const open = async (connection: ChannelModel, drop: (cause: Error) => void): Promise<Session> => {
    await declareTopology(connection, { topology, consumers: [consumer] });
    const channel = await connection.createChannel();
    const closing = new AbortController();
    const ending = AbortSignal.any([stopping.signal, closing.signal]);
    channel.on('error', drop);
    channel.on('close', () => {
      closing.abort();
      drop(new Error('The channel was closed'));
    });
    await channel.prefetch(prefetch);
    const deliveries = new ChannelDeliveries(dependencies, channel, ending);
    underWay.add(deliveries);
    channel.on('close', () => void deliveries.end().then(() => underWay.delete(deliveries)));
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) drop(new Error('The queue was deleted'));
      else deliveries.receive(message);
    });
    return { channel, consumerTag };
  };

  const link = await keepConnected<Session>({
    ...options.link,
    name: consumer.name,
    open,
    close: ({ channel }) => channel.close(),
  });
  return {
    isUp: () => link.session() !== undefined,
    async stop() {
      const session = link.session();
      // Cancels the consumer first, so that the broker does not deliver returned messages to it again.
      const cancelled = session?.channel.cancel(session.consumerTag).catch(() => undefined);
      stopping.abort();
      await cancelled;
      await Promise.all([...underWay].map((deliveries) => deliveries.end()));
      await link.stop();
    },
  };
}

/** Returns a function that runs work in the order of its calls. Failed work does not block later work. */
function inTurn(): DeliveryDependencies['takeTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
