import { tooMany } from '@clinical-launch/http/errors';
import {
  createRedisKeys,
  createScriptReader,
  defaultPrefix,
  type RedisClient,
  RedisScripts,
  shardOfText,
} from '@clinical-launch/redis/redis-scripts';
import type { RateLimiter } from './rate-limit.ts';

const countRequest = createScriptReader(import.meta.url)('count-request');

export type SharedRateLimiterDependencies = {
  readonly redis: RedisClient;
  /** The service whose clients are counted; the clients of other services are out of reach. */
  readonly service: string;
  readonly prefix?: string;
};

/**
 * Creates a limiter that all replicas share: a count for each second in Redis, of which the earlier one is
 * weighted by its part of the last second. So a client can exceed its limit around the turn of a second, by at
 * most the limit. A client with a limit costs one round trip, and a client without one costs none.
 * `count` rejects with RedisUnavailable when Redis does not answer.
 */
export function createSharedRateLimiter({
  redis,
  service,
  prefix = defaultPrefix,
}: SharedRateLimiterDependencies): RateLimiter {
  const scripts = new RedisScripts(redis);
  const { key, hash } = createRedisKeys(prefix);
  const count = async (client: string, perSecond: number) => {
    const rate = key(shardOfText(client), 'rate', service, hash(client));
    const waitMs = Number(await scripts.runOnce(countRequest, [rate], [perSecond]));
    if (waitMs > 0) throw tooMany(waitMs);
  };
  return {
    count: (client, perSecond) => (perSecond === undefined ? undefined : count(client, perSecond)),
  };
}
