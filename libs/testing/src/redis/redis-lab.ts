import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import {
  type RedisClusterServers,
  type RedisSentinels,
  type RedisServer,
  startRedisCluster,
  startRedisSentinel,
  startRedisServer,
} from './redis-server.ts';

type Ending = () => void | Promise<void>;

/** The servers, clients and proxies of a test, until `stop` stops all of them. */
export type RedisLab = {
  server(...settings: string[]): Promise<RedisServer>;
  cluster(): Promise<RedisClusterServers>;
  sentinel(): Promise<RedisSentinels>;
  proxy(port: number): Promise<CuttingProxy>;
  client(...args: Parameters<typeof connectRedis>): Promise<RedisClient>;
  /** Connects to the Redis that the environment names, or to a private Redis. */
  anyClient(): Promise<RedisClient>;
  onStop(ending: Ending): void;
  stop(): Promise<void>;
};

/** Creates an empty lab. Call its `stop` at the end of the tests. */
export function createRedisLab(): RedisLab {
  const endings: Ending[] = [];
  const kept = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    endings.push(() => started.stop());
    return started;
  };
  const client: RedisLab['client'] = async (...args) => {
    const redis = await connectRedis(...args);
    endings.push(() => redis.disconnect());
    return redis;
  };
  return {
    server: (...settings) => kept(startRedisServer(...settings)),
    cluster: () => kept(startRedisCluster()),
    sentinel: () => kept(startRedisSentinel()),
    proxy: (port) => kept(startCuttingProxy(port)),
    client,
    anyClient: async () => {
      const url = process.env.TEST_REDIS_URL;
      return await client(url === undefined || url === '' ? (await kept(startRedisServer())).url : url);
    },
    onStop: (ending) => void endings.push(ending),
    stop: async () => {
      // Stops everything in reverse order: clients before their servers.
      for (const end of endings.splice(0).reverse()) await end();
    },
  };
}
