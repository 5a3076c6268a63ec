import { backoff, startLoop } from '@clinical-launch/runtime/loop';
import { Cluster, type Redis } from 'ioredis';
import type { RedisOutbox } from './redis-outbox.ts';
import type { RedisClient } from './redis-scripts.ts';

/** An outbox, and what wakes its relay. */
export type WokenOutbox = { readonly outbox: RedisOutbox; readonly nudge: () => void };

/** Milliseconds before the next connection after one that worked. */
const reconnectAfterMs = 250;
const retryAfterMs = backoff({ firstMs: 500, maxMs: 5000 });

/**
 * Wakes relays when events are appended: the appending scripts publish the shard. Listens on a connection of
 * its own, because a connection that subscribes can run no scripts. In a Redis Cluster any node will do,
 * because a message reaches all of them. Reconnects without a limit. A message may be lost; the polls of the
 * relay cover that.
 * @returns a function that stops it
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
    // The main client logs that Redis is unavailable.
    listener.on('error', () => undefined);
    stopping.addEventListener('abort', stop);
    try {
      await listener.connect();
      await listener.subscribe(...byChannel.keys());
      // Nobody heard of what was appended before.
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
    // The main client logs that Redis is unavailable.
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
