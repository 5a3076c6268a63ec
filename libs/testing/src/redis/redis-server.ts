import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findFreePort } from '../servers/private-server.ts';
import { redisProgram } from '../servers/redis.ts';
import { until } from '../until.ts';

/** A private `redis-server` in its own directory. */
export type RedisServer = {
  readonly url: string;
  readonly port: number;
  readonly directory: string;
  /** Kills the server (kill -9). Its data remains. */
  kill(): Promise<void>;
  /** Starts the server again on the same port and directory. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a server with an append-only file. `settings` are arguments of its command line. */
export const startRedisServer = (...settings: string[]): Promise<RedisServer> => startWith(() => settings);

/** @param settingsFor returns the settings, given a free port for the cluster bus */
async function startWith(settingsFor: (busPort: number) => readonly string[]): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'tickets-redis-'));
  const start = ({ port, busPort }: Ports) =>
    run(['--port', String(port), '--dir', directory, ...settingsFor(busPort)]);
  const { ports, ...started } = await startOnFreePorts(start);
  const { port } = ports;
  let { child } = started;
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    directory,
    kill,
    restart: async () => {
      child = await start(ports);
    },
    stop: async () => {
      await kill();
      await rm(directory, { recursive: true });
    },
  };
}

export type RedisClusterServers = {
  readonly url: string;
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
};

/** Starts a Redis Cluster of three primaries and waits until it serves every slot. */
export async function startRedisCluster(): Promise<RedisClusterServers> {
  const servers = await Promise.all(
    Array.from({ length: 3 }, () =>
      startWith((busPort) => ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)]),
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
  const directory = await mkdtemp(join(tmpdir(), 'tickets-sentinel-'));
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
  const child = spawn(redisProgram, [file, '--sentinel'], { stdio: 'ignore' });
  const endWithUs = () => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const sentinel = new Redis(port, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  sentinel.on('error', () => undefined);
  const primaryPort = async () =>
    Number(((await sentinel.call('SENTINEL', 'get-master-addr-by-name', 'primary')) as string[])[1]);
  const isWatching = async () =>
    String(await sentinel.call('SENTINEL', 'replicas', 'primary')).includes('master-link-status,ok');
  await until(isWatching);
  return {
    url: `redis://127.0.0.1:${port}?sentinel=primary`,
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
      process.off('exit', endWithUs);
      child.kill('SIGKILL');
      await Promise.all([primary.stop(), replica.stop()]);
      await rm(directory, { recursive: true });
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

type Ports = { readonly port: number; readonly busPort: number };

async function startOnFreePorts(start: (ports: Ports) => Promise<ChildProcess>) {
  for (let attempt = 1; ; attempt += 1) {
    const ports = { port: await findFreePort(), busPort: await findFreePort() };
    try {
      return { child: await start(ports), ports };
    } catch (error) {
      // Tries again, because another process may have taken a port in the meantime.
      if (attempt === 5) throw error;
    }
  }
}

async function run(settings: readonly string[]): Promise<ChildProcess> {
  const fixed = [
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'yes',
    // With `everysec`, Redis may write up to two seconds late on a busy disk. A kill would then lose
    // acknowledged writes.
    '--appendfsync',
    'always',
    '--repl-diskless-sync-delay',
    '0',
    '--loglevel',
    'notice',
  ];
  const child = spawn(redisProgram, [...fixed, ...settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  const endWithUs = () => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  let output = '';
  child.once('error', (cause) => reject(new Error(`Install ${redisProgram} to run these tests`, { cause })));
  child.once('exit', () => reject(new Error(`${redisProgram} ended:\n${output}`)));
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.includes('Ready to accept connections')) resolve(child);
  });
  return await promise;
}
