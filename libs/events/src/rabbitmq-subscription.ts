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
  /** The number of messages held at once: those that wait their turn and those that wait for a retry. */
  readonly prefetch?: number | undefined;
};

type Session = { readonly channel: Channel; readonly consumerTag: string };

/** One batch is handled while the next one arrives. */
const prefetchFor = (consumer: Consumer) => Math.max(32, 2 * batchSizeOf(consumer));

/**
 * One consumer's queue, on a separate connection: a broker that accepts no more events continues to deliver.
 */
export type Subscription = {
  isUp(): boolean;
  /** Receives no more messages, lets the current event complete, returns the waiting ones, and closes. */
  stop(): Promise<void>;
};

/**
 * Passes the events of its queue to a consumer in order until it is stopped: one at a time, or in batches if
 * the consumer handles batches. An event that fails waits aside and returns to the queue (any instance may
 * get it next), a bounded number of times; then it is a dead letter. Nothing is acknowledged before it was
 * handled, so an event may come twice.
 * Resolves when the consumer is subscribed, or immediately if the broker is down: then it subscribes when the
 * broker is back.
 * @throws TypeError when there are more waits than the queue has deliveries
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
      // Cancelled before messages are returned, so that they are not delivered here again.
      const cancelled = session?.channel.cancel(session.consumerTag).catch(() => undefined);
      stopping.abort();
      await cancelled;
      await Promise.all([...underWay].map((deliveries) => deliveries.end()));
      await link.stop();
    },
  };
}

/** Returns a function that runs work in the order of the calls; a failure does not block the next. */
function inTurn(): DeliveryDependencies['takeTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
