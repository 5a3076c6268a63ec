import { type RedisClient } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { aPrefix, createTickets } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { codeChallenge, startLaunchApi } from './launch-api.ts';

const lab = createRedisLab();
let redis: RedisClient;
beforeAll(async () => {
  redis = await lab.anyClient();
});
afterAll(() => lab.stop());

it('a launch URL expires by the clock of Redis, within the seconds of LAUNCH_TOKEN_SECONDS', async () => {
  const prefix = aPrefix();
  const tickets = createTickets(redis, prefix);
  const api = await startLaunchApi({ environment: { LAUNCH_TOKEN_SECONDS: '3' }, tickets });
  try {
    const { url }: { readonly url: string } = JSON.parse(await (await api.post()).text());
    const [key = '', ...others] = await redis.keys(`${prefix}*:ticket:launch-token:*`);
    expect(others).toEqual([]);
    const [second = ''] = await redis.time();
    expect(await redis.pexpiretime(key)).toBeLessThanOrEqual((Number(second) + 4) * 1000);
    await redis.pexpireat(key, Number(second) * 1000);
    const launchToken = new URL(url).searchParams.get('launchToken') ?? '';
    const redemption = await tickets.redeem('launch-token', launchToken, {
      proofs: [codeChallenge],
      events: [],
    });
    expect(redemption).toEqual({ outcome: 'unknown' });
  } finally {
    await api.stop();
  }
});
