import { Cluster, type Redis } from 'ioredis';
import type { RedisLogger } from './connect-redis.ts';
import { defaultPrefix, type RedisClient } from './redis-scripts.ts';

/** The load of one node of Redis, as the node reports it. */
export type RedisLevel = {
  /** `host:port` */
  readonly address: string;
  readonly usedBytes: number;
  /** 0 if the memory has no limit. */
  readonly maxBytes: number;
  readonly keys: number;
  readonly clients: number;
  readonly commands: number;
};

/** Reads the load of every primary node. */
export function measureRedis(redis: RedisClient): Promise<readonly RedisLevel[]> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  return Promise.all(nodes.map(levelOf));
}

async function levelOf(node: Redis): Promise<RedisLevel> {
  const info = await node.info();
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const keys = info.matchAll(/^db\d+:keys=(\d+)/gm);
  return {
    address: addressOf(node),
    usedBytes: read('used_memory'),
    maxBytes: read('maxmemory'),
    keys: [...keys].reduce((sum, [, count]) => sum + Number(count), 0),
    clients: read('connected_clients'),
    commands: read('total_commands_processed'),
  };
}

/**
 * Thrown if Redis may lose required data, or if its user has the rights of other services. The message lists
 * every problem.
 */
export class UnsafeRedis extends TypeError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`This Redis cannot be used:\n  ${problems.join('\n  ')}`);
    this.name = 'UnsafeRedis';
    this.problems = problems;
  }
}

type SafetyOptions = {
  readonly isProduction: boolean;
  /** Whether production accepts a Redis without an append-only file. */
  readonly acceptsVolatile?: boolean;
  /** Whether production accepts a user that may read the keys of other services. */
  readonly acceptsSharedUser?: boolean;
  readonly prefix?: string;
  readonly logger?: Pick<RedisLogger, 'warn'>;
};

/**
 * Checks, on every node, the settings on which the single use of tickets depends. Redis must not evict keys,
 * because a ticket without its used-marker works again. It must write an append-only file, because otherwise
 * a restart loses tickets and events. In production, the user of the connection must not have the rights of
 * other services.
 * @throws UnsafeRedis in production, with every problem of every node; elsewhere logs a warning
 */
export async function assertSafeRedis(
  redis: RedisClient,
  { isProduction, acceptsVolatile = false, acceptsSharedUser = false, prefix, logger }: SafetyOptions,
): Promise<void> {
  const nodes = redis instanceof Cluster ? redis.nodes('all') : [redis];
  const found = await Promise.all(nodes.map(problemsOf));
  const shared = isProduction
    ? (await Promise.all(nodes.map((node) => sharedUserOf(node, prefix)))).flat()
    : [];
  const evicting = found.flatMap(({ eviction }) => eviction);
  const volatile = found.flatMap(({ persistence }) => persistence);
  const refused = [...evicting, ...(acceptsVolatile ? [] : volatile), ...(acceptsSharedUser ? [] : shared)];
  if (isProduction && refused.length > 0) throw new UnsafeRedis(refused);
  const warn = (problems: readonly string[], message: string) =>
    problems.length > 0 && logger?.warn({ problems }, message);
  if (!isProduction) warn([...evicting, ...volatile], 'production would refuse this Redis');
  else {
    warn(volatile, 'a restart of this Redis loses data');
    warn(shared, 'this Redis does not separate the services');
  }
}

/**
 * Returns a problem if the user of the connection may read keys of other services. Reads a key that no
 * service has. A node checks the rights before it redirects (MOVED), so a redirect also means that the user
 * may read the key.
 */
async function sharedUserOf(node: Redis, prefix = defaultPrefix): Promise<readonly string[]> {
  const error = await node.exists(`${prefix}{s00}:no-service-has-this-key`).then(
    () => undefined,
    (reason: Error) => reason,
  );
  if (error?.message.startsWith('NOPERM')) return [];
  if (error !== undefined && !/^(?:MOVED|ASK) /.test(error.message)) throw error;
  return [
    `${addressOf(node)}: this user may read the keys of other services. Give each service its own user, unless REDIS_SERVICE_USERS is optional`,
  ];
}

const addressOf = ({ options }: Redis) => `${options.host}:${options.port}`;

/** Returns the problems of a node: the eviction of keys, and missing persistence. */
async function problemsOf(node: Redis) {
  // Uses INFO, because managed services do not allow CONFIG.
  const [memory, persistence] = await Promise.all([node.info('memory'), node.info('persistence')]);
  const policy = settingIn(memory, 'maxmemory_policy');
  const name = addressOf(node);
  const isPersistent = settingIn(persistence, 'aof_enabled') === '1';
  return {
    eviction:
      policy === 'noeviction' ? [] : [`${name}: maxmemory-policy must be noeviction but is ${policy}`],
    persistence: isPersistent
      ? []
      : [`${name}: appendonly must be yes, unless REDIS_APPEND_ONLY_FILE is optional`],
  };
}

const settingIn = (info: string, name: string) =>
  new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? 'unknown';
