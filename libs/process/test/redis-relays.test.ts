import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { aPrefix } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { expect, it } from '@jest/globals';
import { startRedisRelays } from '../src/redis-relays.ts';

it('the relays of a process no longer listen to Redis after they were stopped', async () => {
  const redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
  const location = { redis, prefix: aPrefix(), writeEvent: JSON.stringify };
  const bus = { publishWritten: async () => undefined };
  const relays = startRedisRelays({ location }, bus, createRecordedLogger());
  const { channel } = new RedisOutbox(location);
  const hasListeners = async (count: number) => (await redis.pubsub('NUMSUB', channel))[1] === count;
  await until(() => hasListeners(1));
  await relays.stop();
  await until(() => hasListeners(0));
  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
});
