import { Redis } from 'ioredis';
import { createLeakSearch } from './search.ts';
import { readUsedSecrets } from './used-secrets.ts';

/** Returns the leaks in a Redis: also those of processes of which the tests see only the answers. */
export async function leaksInRedis(url: string): Promise<string[]> {
  const search = createLeakSearch();
  search.use(readUsedSecrets());
  for (const text of await valuesIn(url)) search.observe('a value in Redis', text);
  return search.found();
}

/** Returns every value in a Redis, with its key. */
export async function valuesIn(url: string): Promise<string[]> {
  const redis = new Redis(url);
  const texts: string[] = [];
  try {
    for await (const keys of redis.scanStream({ count: 1000 }) as AsyncIterable<string[]>) {
      const values = await Promise.all(keys.map((key) => valueOf(redis, key)));
      texts.push(...keys, ...values.map((value) => JSON.stringify(value)));
    }
  } finally {
    redis.disconnect();
  }
  return texts;
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'set') return redis.smembers(key);
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'stream') return redis.xrange(key, '-', '+');
  if (type === 'list') return redis.lrange(key, 0, -1);
  // It has expired since it was listed.
  if (type === 'none') return null;
  throw new TypeError(`${key} is a ${type}`);
}
