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
  /** The service whose requests are counted. The counts of other services are separate. */
  readonly service: string;
  readonly prefix?: string;
};

/**
 * Creates a rate limiter that all replicas share. Redis counts the requests of the current and the previous
 * second. The count of the previous second is weighted by how much of that second is in the last 1000
 * milliseconds. Around the boundary of two seconds, a client can therefore send up to twice its limit. Only
 * clients with a limit need a round trip. `count` rejects with RedisUnavailable if Redis does not answer.
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
    const isAllowed = (await scripts.runOnce(countRequest, [rate], [perSecond])) === 1;
    if (!isAllowed) throw tooMany(1000);
  };
  return {
    count: (client, perSecond) => (perSecond === undefined ? undefined : count(client, perSecond)),
  };
}
