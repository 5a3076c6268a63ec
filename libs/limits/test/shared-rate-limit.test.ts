import { ServiceError } from '@clinical-launch/http/errors';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RateLimiter } from '../src/rate-limit.ts';
import { createSharedRateLimiter } from '../src/shared-rate-limit.ts';

let redis: RedisClient;
beforeAll(async () => {
  redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(() => redis.disconnect());

const aPrefix = () => `test-${crypto.randomUUID()}:`;

/** Returns the rate limiters of two replicas that use the same Redis. */
function twoReplicas(): readonly [RateLimiter, RateLimiter] {
  const options = { redis, prefix: aPrefix(), service: 'test' };
  return [createSharedRateLimiter(options), createSharedRateLimiter(options)];
}

/** Counts a request. Returns undefined if it is accepted, and the value of `Retry-After` if it is refused. */
async function send(limiter: RateLimiter, perSecond: number, client = 'pms'): Promise<string | undefined> {
  try {
    await limiter.count(client, perSecond);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 429) throw error;
    return error.headers['Retry-After'];
  }
}

/** Sends requests to two replicas in turn, and returns the number of accepted requests. */
async function accepted(replicas: readonly [RateLimiter, RateLimiter], requests: number, perSecond: number) {
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, request) => send(replicas[request % 2 === 0 ? 0 : 1], perSecond)),
  );
  return answers.filter((retryAfter) => retryAfter === undefined).length;
}

/** Returns the current second of Redis's clock, and how much of that second has passed. */
async function redisTime(): Promise<{ readonly second: number; readonly part: number }> {
  const [seconds, microseconds] = await redis.time();
  return { second: Number(seconds), part: Number(microseconds) / 1e6 };
}

/**
 * Repeats work until a run begins and ends in the same second of Redis's clock. Returns the result of that
 * run, and how much of the second had passed when the run began and ended.
 */
async function withinOneSecond<Result>(work: (second: number) => Promise<Result>) {
  for (;;) {
    const before = await redisTime();
    const result = await work(before.second);
    const after = await redisTime();
    if (after.second === before.second) return { result, from: before.part, to: after.part };
  }
}

/** Stores in Redis that the client sent this number of requests in the given second. */
async function hasSent(prefix: string, requests: number, second: number): Promise<void> {
  const limiter = createSharedRateLimiter({ redis, prefix, service: 'test' });
  await send(limiter, requests);
  const [key = ''] = await redis.keys(`${prefix}*`);
  await redis.hset(key, { second, count: requests, before: 0 });
}

describe('a rate limit that replicas share', () => {
  it('accepts 5 of 12 requests to two replicas if the limit is five a second', async () => {
    const { result } = await withinOneSecond(() => accepted(twoReplicas(), 12, 5));
    expect(result).toBe(5);
  });

  it('counts requests of the previous second in proportion to the part of that second in the window', async () => {
    const { result, from, to } = await withinOneSecond(async (second) => {
      const prefix = aPrefix();
      await hasSent(prefix, 10, second - 1);
      const limiter = createSharedRateLimiter({ redis, prefix, service: 'test' });
      return accepted([limiter, limiter], 12, 10);
    });
    expect(result).toBeGreaterThanOrEqual(10 - Math.floor(10 * (1 - from)));
    expect(result).toBeLessThanOrEqual(10 - Math.floor(10 * (1 - to)));
  });

  it('does not count requests from before the previous second', async () => {
    const { result } = await withinOneSecond(async (second) => {
      const prefix = aPrefix();
      await hasSent(prefix, 10, second - 2);
      const limiter = createSharedRateLimiter({ redis, prefix, service: 'test' });
      return accepted([limiter, limiter], 12, 10);
    });
    expect(result).toBe(10);
  });

  it('accepts a request after the time in Retry-After has passed', async () => {
    const [limiter] = twoReplicas();
    const { result } = await withinOneSecond(async () => {
      const client = crypto.randomUUID();
      await send(limiter, 1, client);
      return { client, retryAfter: await send(limiter, 1, client) };
    });
    expect(result.retryAfter).toBe('1');
    await until(async () => (await send(limiter, 1, result.client)) === undefined);
  });

  it('counts each client separately', async () => {
    const [limiter] = twoReplicas();
    const { result } = await withinOneSecond(async () => {
      const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
      await send(limiter, 1, one);
      return [await send(limiter, 1, one), await send(limiter, 1, other)].map((wait) => wait === undefined);
    });
    expect(result).toEqual([false, true]);
  });

  it('does not count the requests of a client without a limit', () => {
    expect(twoReplicas()[0].count('pms', undefined)).toBeUndefined();
  });
});
