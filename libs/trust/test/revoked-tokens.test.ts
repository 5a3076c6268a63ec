import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { type RedisClient, RedisUnavailable } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import type { RedisClusterServers, RedisServer } from '@clinical-launch/testing/redis/redis-server';
import { anEvent, aPrefix, sentBy } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InMemoryRevokedTokens } from '../src/in-memory-revoked-tokens.ts';
import { RedisRevokedTokens } from '../src/redis-revoked-tokens.ts';
import { describeRevokedTokens, maxTokens } from './revoked-tokens-contract.ts';

describeRevokedTokens('in memory', async () => {
  let now = 0;
  const sent: CloudEvent[] = [];
  const outbox = { append: async (events: readonly CloudEvent[]) => void sent.push(...events) };
  return {
    revokedTokens: new InMemoryRevokedTokens({ clock: { now: () => now }, outbox, maxTokens }),
    outbox: async () => sent,
    pass: async (seconds: number) => {
      now += seconds * 1000;
    },
    isTimeReal: false,
    stop: async () => undefined,
  };
});

function redisUnderTest(redis: RedisClient, stop: () => Promise<void>) {
  const place = { redis, prefix: aPrefix() };
  const outbox = new RedisOutbox(place);
  return {
    revokedTokens: new RedisRevokedTokens({ ...place, maxTokens }),
    outbox: sentBy(outbox),
    pass: (seconds: number) => delay(seconds * 1000),
    isTimeReal: true,
    stop,
  };
}

const clusterLab = createRedisLab();
let cluster: Promise<RedisClusterServers>;
// The cluster needs two seconds to start. The other tests run in that time.
beforeAll(() => {
  cluster = clusterLab.cluster();
});
afterAll(() => clusterLab.stop());

describeRevokedTokens('Redis', async () => {
  const lab = createRedisLab();
  return redisUnderTest(await lab.anyClient(), () => lab.stop());
});

describeRevokedTokens('Redis Cluster of three nodes', async () =>
  redisUnderTest(await clusterLab.client((await cluster).url), async () => undefined),
);

describe('RedisRevokedTokens', () => {
  const lab = createRedisLab();
  let server: RedisServer;
  let redis: RedisClient;
  beforeAll(async () => {
    server = await lab.server();
    redis = await lab.client(server.url);
  });
  afterAll(() => lab.stop());

  const revocation = { owner: 'north pms', forSeconds: 60, events: [] };

  it('needs one round trip for each revocation, query and read', async () => {
    const revokedTokens = new RedisRevokedTokens({ redis, prefix: aPrefix() });
    const steps = [
      () => revokedTokens.revoke(randomUUID(), { ...revocation, events: [anEvent()] }),
      () => revokedTokens.has('one'),
      () => revokedTokens.readAfter(),
    ];
    // The first run loads the scripts into the server.
    for (const step of steps) await step();
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    const before = await calls();
    for (const step of steps) await step();
    expect((await calls()) - before).toBe(steps.length);
  });

  it('names its keys after the option `list`, and lets every key except the sequence number expire with the last token', async () => {
    const prefix = aPrefix();
    const revokedTokens = new RedisRevokedTokens({ redis, prefix });
    await revokedTokens.revoke('long', revocation);
    await revokedTokens.revoke('short', { ...revocation, forSeconds: 1 });
    const keys = await redis.keys(`${prefix}*`);
    expect(keys).toHaveLength(4);
    for (const key of keys) {
      expect(key).toMatch(/:revoked-tokens[-a-z]*(:[\w-]{43})?$/);
      const isKept = key.endsWith('-sequence');
      expect({ key, expires: (await redis.pttl(key)) > 50_000 }).toEqual({ key, expires: !isKept });
    }
  });

  it('stores ended sessions under separate keys', async () => {
    const prefix = aPrefix();
    const endedSessions = new RedisRevokedTokens({ redis, prefix, list: 'ended-sessions' });
    await endedSessions.revoke('one', revocation);
    expect(await endedSessions.has('one')).toBe(true);
    expect(await new RedisRevokedTokens({ redis, prefix }).has('one')).toBe(false);
    for (const key of await redis.keys(`${prefix}*`)) expect(key).toMatch(/:ended-sessions[-a-z]*(:|$)/);
  });

  it('uses limited memory in Redis, however many tokens a client revokes', async () => {
    const prefix = aPrefix();
    const revokedTokens = new RedisRevokedTokens({ redis, prefix, maxTokens: 50 });
    // A token with a long lifetime keeps the keys from expiring.
    await revokedTokens.revoke('long', { ...revocation, owner: 'other' });
    for (let round = 0; round < 3; round += 1) {
      const ids = Array.from({ length: 200 }, () => randomUUID());
      await Promise.all(ids.map((id) => revokedTokens.revoke(id, { ...revocation, forSeconds: 1 })));
      const keys = (await redis.keys(`${prefix}*`)).filter((key) => !key.endsWith('-sequence'));
      const sizes = await Promise.all(keys.map((key) => redis.zcard(key)));
      // Each owner has one set. The list and the set of expiry times contain the entries of both owners.
      expect(sizes.toSorted((one, other) => one - other)).toEqual([1, 50, 51, 51]);
      await delay(1050);
    }
  });

  it('returns the whole list to a reader after Redis lost its data and its sequence', async () => {
    const own = await lab.server();
    const revokedTokens = new RedisRevokedTokens({ redis: await lab.client(own.url), prefix: aPrefix() });
    for (const id of ['one', 'two', 'three']) await revokedTokens.revoke(id, revocation);
    const { position } = await revokedTokens.readAfter();
    await own.kill();
    await rm(join(own.directory, 'appendonlydir'), { recursive: true });
    await own.restart();
    await until(async () => (await revokedTokens.has('one').catch(() => undefined)) === false);
    await revokedTokens.revoke('four', revocation);
    const { tokens } = await revokedTokens.readAfter(position);
    expect(tokens.map(({ tokenId }) => tokenId)).toEqual(['four']);
  });

  it('is unavailable while Redis does not answer', async () => {
    const own = await lab.server();
    const revokedTokens = new RedisRevokedTokens({ redis: await lab.client(own.url), prefix: aPrefix() });
    await own.kill();
    await expect(revokedTokens.has('one')).rejects.toThrow(RedisUnavailable);
    await expect(revokedTokens.readAfter()).rejects.toThrow(RedisUnavailable);
    await expect(revokedTokens.revoke('one', revocation)).rejects.toThrow(RedisUnavailable);
  });
});
