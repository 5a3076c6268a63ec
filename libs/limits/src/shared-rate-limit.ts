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
  /** The service whose clients are counted. The counts of other services are not accessible. */
  readonly service: string;
  readonly prefix?: string;
};

/**
 * Creates a limiter that all replicas share. Redis has a count for each second, and the previous one is
 * weighted by its part of the last 1000 milliseconds. So a client can exceed its limit at the boundary of two
 * seconds, by at most the limit. Only clients with a limit need a round trip. `count` rejects with
 * RedisUnavailable if Redis does not answer.
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
