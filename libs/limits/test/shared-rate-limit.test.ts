import { ServiceError } from '@clinical-launch/http/errors';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RateLimiter } from '../src/rate-limit.ts';
import { RedisRates } from '../src/redis-rates.ts';
import { createSharedRateLimiter } from '../src/shared-rate-limit.ts';

let redis: RedisClient;
beforeAll(async () => {
  redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(() => redis.disconnect());

const aPrefix = () => `test-${crypto.randomUUID()}:`;

/** Returns replicas of a service, each with its own limiter on the same Redis. */
const replicas = (count: number, prefix = aPrefix()) =>
  Array.from({ length: count }, () =>
    createSharedRateLimiter(new RedisRates({ redis, prefix, service: 'test' })),
  );

/** Returns a limiter, and how often it has leased. */
function countingLimiter() {
  const calls = { lease: 0 };
  const rates = new RedisRates({ redis, prefix: aPrefix(), service: 'test' });
  const limiter = createSharedRateLimiter({
    lease: (...lease) => {
      calls.lease += 1;
      return rates.lease(...lease);
    },
    giveBack: (...lease) => rates.giveBack(...lease),
  });
  return { limiter, calls };
}

/** Returns whether a request is accepted, with the moments between which that was decided. */
async function ask(limiter: RateLimiter | undefined, key: string, perSecond: number) {
  const askedAt = performance.now();
  try {
    await limiter?.count(key, perSecond);
    return { isAccepted: true, askedAt, answeredAt: performance.now(), retryAfter: undefined };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 429) throw error;
    return {
      isAccepted: false,
      askedAt,
      answeredAt: performance.now(),
      retryAfter: error.headers['Retry-After'],
    };
  }
}

describe('a rate limit that replicas share', () => {
  it('gives a client with five a second 5 of 12 requests on two replicas, not 10', async () => {
    const [one, other] = replicas(2);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, request) => ask(request % 2 === 0 ? one : other, 'pms-limited', 5)),
    );
    expect(answers.filter(({ isAccepted }) => isAccepted)).toHaveLength(5);
    expect(new Set(answers.flatMap(({ retryAfter }) => retryAfter ?? []))).toEqual(new Set(['1']));
  });

  it('is for each client its own', async () => {
    const [limiter] = replicas(1);
    for (let request = 0; request < 5; request += 1) await limiter?.count('one', 5);
    expect((await ask(limiter, 'one', 5)).isAccepted).toBe(false);
    expect((await ask(limiter, 'other', 5)).isAccepted).toBe(true);
  });

  it('allows the next requests a second after the first ones', async () => {
    const [limiter] = replicas(1);
    await ask(limiter, 'pms', 1);
    await until(async () => (await ask(limiter, 'pms', 1)).isAccepted);
  });

  it('never accepts more than the limit in any one second, however busy three replicas are', async () => {
    const limiters = replicas(3);
    const accepted: { askedAt: number; answeredAt: number }[] = [];
    const send = async (limiter: RateLimiter) => {
      while (accepted.length <= 450) {
        const answer = await ask(limiter, 'pms', 200);
        if (answer.isAccepted) accepted.push(answer);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(limiters.flatMap((limiter) => [send(limiter), send(limiter)]));
    // Requests that were certainly accepted within one second, wherever it begins.
    const most = Math.max(
      ...accepted.map(
        ({ askedAt: from }) =>
          accepted.filter(({ askedAt, answeredAt }) => askedAt >= from && answeredAt < from + 1000).length,
      ),
    );
    expect(most).toBeLessThanOrEqual(200);
  });

  it('gives back what a replica did not use, so that a slow client keeps its rate', async () => {
    const [limiter] = replicas(1);
    for (let request = 0; request < 12; request += 1) {
      expect((await ask(limiter, 'pms', 200)).isAccepted).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    // Twelve leases of ten were claimed. Without a return they would be 120 of 200.
    const rest = await Promise.all(Array.from({ length: 170 }, () => ask(limiter, 'pms', 200)));
    expect(rest.filter(({ isAccepted }) => isAccepted)).toHaveLength(170);
  });

  it('leases again after a pause of its process, in which its lease ended and could not be returned', async () => {
    const { limiter, calls } = countingLimiter();
    await limiter.count('pms', 200);
    const leasesBefore = calls.lease;
    for (const wakesAt = performance.now() + 60; performance.now() < wakesAt; );
    await limiter.count('pms', 200);
    expect(calls.lease).toBe(leasesBefore + 1);
  });

  it('costs a busy client a round trip for many requests, and one without a limit none', async () => {
    const { limiter, calls } = countingLimiter();
    for (let request = 0; request < 2000; request += 1) await limiter.count('pms', 2000);
    expect(calls.lease).toBeLessThanOrEqual(400);
    expect(limiter.count('pms without a limit', undefined)).toBeUndefined();
  });
});
