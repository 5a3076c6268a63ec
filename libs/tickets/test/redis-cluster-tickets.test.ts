import { connectRedis } from '../src/index.ts';
import { startRedisCluster } from './redis-server.ts';
import { redisUnderTest } from './ticket-fixtures.ts';
import { describeTickets } from './tickets-contract.ts';

describeTickets('Redis Cluster of three nodes', async () => {
  const cluster = await startRedisCluster();
  const redis = await connectRedis(cluster.url);
  return redisUnderTest(redis, async () => {
    redis.disconnect();
    await cluster.stop();
  });
});
