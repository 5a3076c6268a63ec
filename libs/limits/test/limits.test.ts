import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { anEvent, aPrefix, drainAll } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InMemoryLimits } from '../src/in-memory-limits.ts';
import { RedisLimits } from '../src/redis-limits.ts';
import { describeLimits, mostEvents } from './limits-contract.ts';

function createInMemory() {
  let now = 0;
  const waiting: CloudEvent[] = [];
  const outbox = {
    append: async (events: readonly CloudEvent[]) => void waiting.push(...events),
    depth: async () => waiting.length,
  };
  const clock = { now: () => now };
  return {
    clock,
    limits: new InMemoryLimits({ clock, outbox, mostEvents }),
    waiting: async () => waiting.length,
    pass: async (ms: number) => {
      now += ms;
    },
    isTimeReal: false,
    stop: async () => undefined,
  };
}

describeLimits('in memory', async () => createInMemory());

describeLimits('Redis', async () => {
  const lab = createRedisLab();
  const redis = await lab.anyClient();
  const prefix = aPrefix();
  const outbox = new RedisOutbox({ redis, prefix, stream: 'refused' });
  return {
    limits: new RedisLimits({ redis, prefix, mostEvents: 16 * mostEvents }),
    // `RedisLimits` receives 16 times `mostEvents`, because each of the 16 shards stores a sixteenth of the
    // events, and all refusals of one address are in one shard.
    waiting: () => outbox.depth(),
    pass: (ms) => delay(ms),
    isTimeReal: true,
    stop: () => lab.stop(),
  };
});

/** Refuses a caller once more than the outbox has room for events. Returns the number of dropped events. */
async function fill(limits: Pick<InMemoryLimits, 'refuse'>): Promise<number> {
  let dropped = 0;
  for (let refusal = 0; refusal <= mostEvents; refusal += 1)
    dropped += (await limits.refuse({ from: 'one caller', events: [anEvent()] })).dropped;
  return dropped;
}

it('InMemoryLimits drops an event only when its outbox is full', async () => {
  const { limits, waiting } = createInMemory();
  expect([await fill(limits), await waiting()]).toEqual([1, mostEvents]);
});

it('InMemoryLimits forgets failed attempts one minute after the last attempt and its delay', async () => {
  const { limits, pass } = createInMemory();
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await limits.failAttempt('key');
    await pass(59_999);
  }
  expect(await limits.failAttempt('key')).toEqual({ isCounted: true, waitMs: 16_000 });
  await pass(16_000 + 60_000);
  expect(await limits.failAttempt('key')).toEqual({ isCounted: true, waitMs: 0 });
});

describe('RedisLimits', () => {
  const lab = createRedisLab();
  let redis: RedisClient;
  beforeAll(async () => {
    redis = await lab.client((await lab.server()).url);
  });
  afterAll(() => lab.stop());

  const limit = { refusals: 1, windowSeconds: 60 };

  it('drops an event only when the share of its shard is full', async () => {
    const prefix = aPrefix();
    const limits = new RedisLimits({ redis, prefix, mostEvents: 16 * mostEvents });
    expect(await fill(limits)).toBe(1);
    expect(await new RedisOutbox({ redis, prefix, stream: 'refused' }).depth()).toBe(mostEvents);
  });

  it('counts refusals and failed attempts of all replicas together', async () => {
    const prefix = aPrefix();
    const [one, other] = [new RedisLimits({ redis, prefix }), new RedisLimits({ redis, prefix })];
    await one.refuse({ from: '192.0.2.1', limit, events: [] });
    expect((await other.refuse({ from: '192.0.2.1', limit, events: [] })).overForMs).toBeGreaterThan(0);
    for (let attempt = 1; attempt <= 4; attempt += 1) await one.failAttempt('key');
    expect(await other.failAttempt('key')).toEqual({ isCounted: true, waitMs: 1000 });
  });

  it('makes one round trip for each refusal', async () => {
    const limits = new RedisLimits({ redis, prefix: aPrefix() });
    await limits.refuse({ from: 'the first, which leaves the script on the server', limit, events: [] });
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    const before = await calls();
    await limits.refuse({ from: '192.0.2.2', limit, events: [anEvent()] });
    expect((await calls()) - before).toBe(1);
  });

  it('limits the number of its entries in Redis, even if very many addresses and clients are refused', async () => {
    const prefix = aPrefix();
    const limits = new RedisLimits({ redis, prefix, mostEvents: 1600, maxEntries: 100 });
    const flood = () =>
      Promise.all(
        Array.from({ length: 500 }, async () => {
          await limits.refuse({ from: randomUUID(), limit, events: [anEvent()] });
          await limits.failAttempt(randomUUID());
        }),
      );
    const sizeOf = async (key: string) => {
      const type = await redis.type(key);
      if (type === 'stream') return redis.xlen(key);
      if (type === 'hash') return redis.hlen(key);
      return type === 'zset' ? redis.zcard(key) : 1;
    };
    const stored = async () => {
      const sizes = await Promise.all((await redis.keys(`${prefix}*`)).map(sizeOf));
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    // Redis stores at most 1,600 events. Each of the 16 shards also has at most 100 addresses with refusals,
    // and 100 callers with failed attempts in each of two periods. It also has one count for all other
    // addresses, and the number of its events.
    const most = 1600 + 3 * 16 * 100 + 2 * 16;
    for (let round = 0; round < 20; round += 1) await flood();
    expect(await stored()).toBeLessThanOrEqual(most);
  });

  it('sets an expiry on the counts of refusals and failed attempts', async () => {
    const prefix = aPrefix();
    const limits = new RedisLimits({ redis, prefix });
    await limits.refuse({ from: '192.0.2.3', limit, events: [] });
    await limits.failAttempt('key');
    const keys = await redis.keys(`${prefix}*`);
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('counts further failed attempts of a stored caller even if it can store no more callers', async () => {
    const limits = new RedisLimits({ redis, prefix: aPrefix(), maxEntries: 1 });
    for (let attempt = 1; attempt <= 4; attempt += 1) await limits.failAttempt('key');
    expect(await limits.failAttempt('key')).toEqual({ isCounted: true, waitMs: 1000 });
  });

  it('counts failed attempts of the previous period', async () => {
    // Repeats the test if a new period began during it, because the attempts are then two periods old.
    for (let isRead = false; !isRead; ) {
      const prefix = aPrefix();
      const limits = new RedisLimits({ redis, prefix });
      for (let attempt = 1; attempt <= 4; attempt += 1) await limits.failAttempt('key');
      const [key = '', ...others] = await redis.keys(`${prefix}*`);
      const [, start = '', period = ''] = /^(.*:)(\d+)$/.exec(key) ?? [];
      await redis.rename(key, `${start}${Number(period) - 1}`);
      const fifth = await limits.failAttempt('key');
      const names = await redis.keys(`${prefix}*`);
      isRead = others.length === 0 && names.includes(key);
      if (!isRead) continue;
      expect(fifth).toEqual({ isCounted: true, waitMs: 1000 });
    }
  });

  it('stores the events of refusals in their own outbox stream', async () => {
    const prefix = aPrefix();
    const event = anEvent();
    await new RedisLimits({ redis, prefix }).refuse({ from: '192.0.2.4', limit, events: [event] });
    const outbox = new RedisOutbox({ redis, prefix });
    expect(await outbox.depth()).toBe(0);
    expect(await outbox.committed()).toBe(1);
    expect(await drainAll(new RedisOutbox({ redis, prefix, stream: 'refused' }))).toEqual([event]);
  });
});
