import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findFreePort, makeServerDirectory, runPrivately } from '../servers/private-server.ts';
import { isUp, type RedisServer, redisProgram, runRedis } from '../servers/redis.ts';
import { until } from '../until.ts';

export type { RedisServer };

const lossless = [
  '--appendonly',
  'yes',
  // With `everysec`, Redis may write up to two seconds late on a busy disk. A kill would then lose
  // acknowledged writes.
  '--appendfsync',
  'always',
  '--repl-diskless-sync-delay',
  '0',
];

/**
 * Starts a server with an append-only file that loses no write. `settings` are arguments of its command line.
 */
export const startRedisServer = (...settings: string[]): Promise<RedisServer> =>
  runRedis(redisProgram, [...lossless, ...settings]);

export type RedisClusterServers = {
  readonly url: string;
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
};

/** Starts a Redis Cluster of three primaries and waits until it serves every slot. */
export async function startRedisCluster(): Promise<RedisClusterServers> {
  const servers = await Promise.all(
    Array.from({ length: 3 }, async () =>
      startRedisServer('--cluster-enabled', 'yes', '--cluster-port', String(await findFreePort())),
    ),
  );
  const nodes = servers.map(({ port }) => new Redis(port));
  const slotsEach = Math.ceil(16_384 / nodes.length);
  for (const [at, node] of nodes.entries()) {
    await node.cluster('SET-CONFIG-EPOCH', at + 1);
    await node.call('CLUSTER', 'ADDSLOTSRANGE', at * slotsEach, Math.min((at + 1) * slotsEach, 16_384) - 1);
  }
  for (const { port } of servers.slice(1)) {
    const bus = await nodes[servers.findIndex((server) => server.port === port)]?.config(
      'GET',
      'cluster-port',
    );
    await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, Array.isArray(bus) ? String(bus[1]) : '');
  }
  for (const node of nodes) await until(async () => isComplete(String(await node.cluster('INFO'))));
  for (const node of nodes) node.disconnect();
  return {
    url: servers.map(({ url }) => url).join(','),
    servers,
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  };
}

export type RedisSentinels = {
  readonly url: string;
  readonly primary: RedisServer;
  /** Kills the primary, and resolves when the Sentinel reports the replica as the new primary. */
  failOver(): Promise<void>;
  /** Cuts the replica off, so that it loses every later write, and resolves when it knows that. */
  cutOff(): Promise<void>;
  /** Orders the Sentinel to promote the replica, and resolves with the address of the new primary. */
  promote(): Promise<string>;
  stop(): Promise<void>;
};

/** Starts a primary with a replica, and a Sentinel that watches them. */
export async function startRedisSentinel(): Promise<RedisSentinels> {
  const primary = await startRedisServer();
  const replica = await startRedisServer('--replicaof', `127.0.0.1 ${primary.port}`);
  const directory = makeServerDirectory('sentinel');
  const port = await findFreePort();
  const file = join(directory, 'sentinel.conf');
  await writeFile(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${directory}`,
      `sentinel monitor primary 127.0.0.1 ${primary.port} 1`,
      'sentinel down-after-milliseconds primary 500',
      'sentinel failover-timeout primary 5000',
    ].join('\n'),
  );
  const watching = await runPrivately({
    url: `redis://127.0.0.1:${port}?sentinel=primary`,
    directory,
    command: redisProgram,
    arguments: [file, '--sentinel'],
    stopSignal: 'SIGKILL',
    isUp: () => isUp(`redis://127.0.0.1:${port}`),
  });
  const sentinel = new Redis(port, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  sentinel.on('error', () => undefined);
  const primaryPort = async () =>
    Number(((await sentinel.call('SENTINEL', 'get-master-addr-by-name', 'primary')) as string[])[1]);
  const isWatching = async () =>
    String(await sentinel.call('SENTINEL', 'replicas', 'primary')).includes('master-link-status,ok');
  await until(isWatching);
  return {
    url: watching.url,
    primary,
    async failOver() {
      await primary.kill();
      await until(async () => (await primaryPort()) === replica.port);
    },
    cutOff: () => cutOff(primary, replica),
    async promote() {
      // A Sentinel promotes a replica only if its link is down for at most ten times this time.
      await sentinel.call('SENTINEL', 'SET', 'primary', 'down-after-milliseconds', '600000');
      await until(() =>
        sentinel.call('SENTINEL', 'FAILOVER', 'primary').then(
          () => true,
          () => false,
        ),
      );
      await until(async () => (await primaryPort()) === replica.port);
      return `redis://127.0.0.1:${replica.port}`;
    },
    async stop() {
      sentinel.disconnect();
      await Promise.all([watching.stop(), primary.stop(), replica.stop()]);
    },
  };
}

/** Cuts a replica off by taking from its user the right to replicate. */
async function cutOff(primary: RedisServer, replica: RedisServer): Promise<void> {
  const [from, to] = [new Redis(primary.port), new Redis(replica.port)];
  await from.call('ACL', 'SETUSER', 'default', '-psync', '-sync');
  await to.call('CLIENT', 'KILL', 'TYPE', 'master');
  await until(async () => (await to.info('replication')).includes('master_link_status:down'));
  from.disconnect();
  to.disconnect();
}

const isComplete = (info: string) =>
  info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
