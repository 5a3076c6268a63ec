import { backoff, startLoop } from '@clinical-launch/runtime/loop';
import { Cluster, type Redis } from 'ioredis';
import type { RedisOutbox } from './redis-outbox.ts';
import type { RedisClient } from './redis-scripts.ts';

/** An outbox, and the function that wakes its relay. */
export type WokenOutbox = { readonly outbox: RedisOutbox; readonly nudge: () => void };

/** The milliseconds before the next connection, after a successful connection was lost. */
const reconnectAfterMs = 250;
const retryAfterMs = backoff({ firstMs: 500, maxMs: 5000 });

/**
 * Wakes relays when events are appended: the appending scripts publish the shard. Listens on a separate
 * connection, because a subscribed connection cannot run scripts. In a Redis Cluster, the connection can use
 * any node, because a message reaches all nodes. Reconnects without a limit. If a message is lost, the
 * relay's polls find the events.
 * @returns a function that stops listening
 */
export function wakeRelays(redis: RedisClient, woken: readonly WokenOutbox[]): () => Promise<void> {
  const byChannel = new Map(woken.map((one) => [one.outbox.channel, one]));
  const onMessage = (channel: string, shard: string) => {
    const one = byChannel.get(channel);
    one?.outbox.report(shard);
    one?.nudge();
  };
  const listen = async (stopping: AbortSignal) => {
    const listener = anyNodeOf(redis)?.duplicate({ lazyConnect: true, retryStrategy: null });
    if (listener === undefined) throw new Error('No node of Redis is known');
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const stop = () => listener.disconnect();
    listener.once('end', end).on('message', onMessage);
    // The error is not logged here, because the main client already logs that Redis is unavailable.
    listener.on('error', () => undefined);
    stopping.addEventListener('abort', stop);
    try {
      await listener.connect();
      await listener.subscribe(...byChannel.keys());
      // Wake messages for earlier events may have been missed.
      for (const { outbox, nudge } of woken) {
        outbox.reportAll();
        nudge();
      }
      await ended;
    } finally {
      stop();
      stopping.removeEventListener('abort', stop);
    }
  };
  const loop = startLoop({
    work: listen,
    everyMs: reconnectAfterMs,
    // The failure is not logged here, because the main client already logs that Redis is unavailable.
    onFailure: () => undefined,
    retryAfterMs,
  });
  return loop.stop;
}

function anyNodeOf(redis: RedisClient): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis;
  const nodes = redis.nodes('all').filter(({ status }) => status === 'ready');
  return nodes[Math.floor(Math.random() * nodes.length)] ?? redis.nodes('all')[0];
}
