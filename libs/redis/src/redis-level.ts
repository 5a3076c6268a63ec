import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './redis-scripts.ts';

/** The load of one node of Redis, as it reports it. */
export type RedisLevel = {
  /** `host:port` */
  readonly address: string;
  readonly usedBytes: number;
  /** 0 without a limit. */
  readonly maxBytes: number;
  readonly keys: number;
  readonly clients: number;
  /** Since the node started. */
  readonly commands: number;
};

/** Reads the load of every node that holds data of its own. */
export function measureRedis(redis: RedisClient): Promise<readonly RedisLevel[]> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  return Promise.all(nodes.map(levelOf));
}

async function levelOf(node: Redis): Promise<RedisLevel> {
  const info = await node.info();
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const keys = info.matchAll(/^db\d+:keys=(\d+)/gm);
  return {
    address: `${node.options.host}:${node.options.port}`,
    usedBytes: read('used_memory'),
    maxBytes: read('maxmemory'),
    keys: [...keys].reduce((sum, [, count]) => sum + Number(count), 0),
    clients: read('connected_clients'),
    commands: read('total_commands_processed'),
  };
}
