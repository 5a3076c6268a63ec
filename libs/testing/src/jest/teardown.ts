import { setTimeout as delay } from 'node:timers/promises';
import { leaksInRedis } from '../leaks/redis-values.ts';
import { leftovers } from './run-folder.ts';
import { stopServers } from './setup.ts';

const endsWithinMs = 5000;

/**
 * Jest's `globalTeardown`: ends the servers of the run.
 * @throws Error that names the processes that tests started and did not end, or describes what leaked into
 * Redis.
 */
export default async function tearDown(): Promise<void> {
  const { TEST_REDIS_URL: redisUrl, REDIS_URL: ownRedisUrl = '' } = process.env;
  // A Redis of the environment has other data, too.
  const leaks = redisUrl === undefined || ownRedisUrl !== '' ? [] : await leaksInRedis(redisUrl);
  await stopServers();
  if (leaks.length > 0) throw new Error(`What must be hidden leaked:\n${leaks.join('\n')}`);
  for (const deadline = Date.now() + endsWithinMs; leftovers().length > 0; await delay(50)) {
    if (Date.now() > deadline) throw new Error(`Tests left processes behind:\n${leftovers().join('\n')}`);
  }
}
