import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import type { RedisOutbox } from './redis-outbox.ts';
import type { RedisClient } from './redis-scripts.ts';

/** An outbox, and what wakes its relay. */
export type WokenOutbox = { readonly outbox: RedisOutbox; readonly nudge: () => void };

/** The first and the longest wait before the next connection, in milliseconds. */
const reconnectAfterMs = { least: 250, most: 5000 };

/**
 * Wakes relays when events are appended: the appending scripts publish the shard. Listens on a connection of
 * its own, because a connection that subscribes can run no scripts. In a Redis Cluster any node will do,
 * because a message reaches all of them. Reconnects without a limit. A message may be lost; the polls of the
 * relay cover that.
 * @returns a function that stops it
 */
export function wakeRelays(redis: RedisClient, woken: readonly WokenOutbox[]): () => Promise<void> {
  const stopping = new AbortController();
  const byChannel = new Map(woken.map((one) => [one.outbox.channel, one]));
  const onMessage = (channel: string, shard: string) => {
    const one = byChannel.get(channel);
    one?.outbox.report(shard);
    one?.nudge();
  };
  const listen = async (listener: Redis) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const stop = () => listener.disconnect();
    listener.once('end', end).on('message', onMessage);
    // The main client logs that Redis is unavailable.
    listener.on('error', () => undefined);
    stopping.signal.addEventListener('abort', stop);
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
      stopping.signal.removeEventListener('abort', stop);
    }
  };
  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const listener = anyNodeOf(redis)?.duplicate({ lazyConnect: true, retryStrategy: null });
      const hasListened =
        listener !== undefined &&
        (await listen(listener).then(
          () => true,
          () => false,
        ));
      failures = hasListened ? 0 : failures + 1;
      const waitMs = Math.min(reconnectAfterMs.least * 2 ** failures, reconnectAfterMs.most);
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}

function anyNodeOf(redis: RedisClient): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis;
  const nodes = redis.nodes('all').filter(({ status }) => status === 'ready');
  return nodes[Math.floor(Math.random() * nodes.length)] ?? redis.nodes('all')[0];
}
