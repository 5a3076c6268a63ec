import { Cluster, type Redis } from 'ioredis';
import type { RedisLogger } from './connect-redis.ts';
import type { RedisClient } from './redis-scripts.ts';

/** The settings of this Redis allow it to lose required data; the message lists every problem. */
export class UnsafeRedis extends TypeError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`This Redis cannot be used:\n  ${problems.join('\n  ')}`);
    this.name = 'UnsafeRedis';
    this.problems = problems;
  }
}

/**
 * Checks the settings of every node on which single use depends. It must not evict keys, because without its
 * used-marker a ticket works again. It must write an append-only file, because otherwise a restart loses
 * tickets and events.
 * @throws UnsafeRedis in production, with every problem of every node; elsewhere logs a warning
 */
export async function assertSafeRedis(
  redis: RedisClient,
  { isProduction, logger }: { isProduction: boolean; logger?: Pick<RedisLogger, 'warn'> },
): Promise<void> {
  const nodes = redis instanceof Cluster ? redis.nodes('all') : [redis];
  const problems = (await Promise.all(nodes.map(problemsOf))).flat();
  if (problems.length === 0) return;
  if (isProduction) throw new UnsafeRedis(problems);
  logger?.warn({ problems }, 'production would refuse this Redis');
}

async function problemsOf(node: Redis): Promise<string[]> {
  // INFO instead of CONFIG, which managed services do not allow.
  const [memory, persistence] = await Promise.all([node.info('memory'), node.info('persistence')]);
  const policy = settingIn(memory, 'maxmemory_policy');
  const name = `${node.options.host}:${node.options.port}`;
  return [
    ...(policy === 'noeviction' ? [] : [`${name}: maxmemory-policy must be noeviction but is ${policy}`]),
    ...(settingIn(persistence, 'aof_enabled') === '1' ? [] : [`${name}: appendonly must be yes`]),
  ];
}

const settingIn = (info: string, name: string) =>
  new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? 'unknown';
