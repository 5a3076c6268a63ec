import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import type { RedisOutbox } from './redis-outbox.ts';
import type { RedisClient } from './redis-scripts.ts';

/** An outbox, and what wakes its relay. */
export type WokenOutbox = { readonly outbox: RedisOutbox; readonly nudge: () => void };

const reconnectAfterMs = 250;

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
    listener.once('end', end).on('error', () => undefined);
    stopping.signal.addEventListener('abort', () => listener.disconnect(), { once: true });
    listener.on('message', onMessage);
    await listener.connect();
    await listener.subscribe(...byChannel.keys());
    // What was appended without a listener waits for nobody else.
    for (const { outbox, nudge } of woken) {
      outbox.reportAll();
      nudge();
    }
    await ended;
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const listener = anyNodeOf(redis)?.duplicate({ lazyConnect: true, retryStrategy: null });
      // The main client logs that Redis is unavailable.
      if (listener !== undefined) await listen(listener).catch(() => listener.disconnect());
      await delay(reconnectAfterMs, undefined, { signal: stopping.signal }).catch(() => undefined);
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
