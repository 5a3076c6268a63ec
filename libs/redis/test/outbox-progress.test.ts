import { anEvent, aPrefix } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectRedis } from '../src/connect-redis.ts';
import { followOutbox } from '../src/outbox-progress.ts';
import { RedisOutbox } from '../src/redis-outbox.ts';
import type { RedisClient } from '../src/redis-scripts.ts';

let redis: RedisClient;
beforeAll(async () => {
  redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(() => redis.disconnect());

it('followOutbox reports that all earlier events of an outbox are relayed, even if a later event still waits', async () => {
  const place = { redis, prefix: aPrefix() };
  const outbox = new RedisOutbox(place);
  expect(await (await followOutbox(place))()).toBe(true);
  for (let shard = 0; shard < 20; shard += 1) await outbox.append([anEvent()]);
  const isRelayed = await followOutbox(place);
  expect(await isRelayed()).toBe(false);
  await expect(outbox.drain(() => Promise.reject(new Error('the broker is down')))).rejects.toThrow('down');
  expect(await isRelayed()).toBe(false);
  await outbox.drain(async () => undefined);
  await outbox.append([anEvent()]);
  expect(await isRelayed()).toBe(true);
});
