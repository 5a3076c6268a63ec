import { exchangeBytes } from './exchange-bytes.ts';
import { findFreePort, makeServerDirectory, type PrivateServer, runPrivately } from './private-server.ts';
import { findProgram, type ServerKind, startPrivate } from './server-kind.ts';

/** The settings of production: an append-only file that is flushed every second, and no evicted keys. */
const settings = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'];

/** The program of Redis, or of a server that is compatible with it, such as `valkey-server`. */
export const redisProgram = process.env['REDIS_SERVER'] || 'redis-server';

export const redis = redisWith([]);

/**
 * Starts a Redis for the test.
 * @param extraSettings arguments of its command line: `['--cluster-enabled', 'yes']`
 */
export function startRedis(extraSettings: readonly string[] = []): Promise<PrivateServer> {
  return startPrivate(redisWith(extraSettings));
}

function redisWith(extraSettings: readonly string[]): ServerKind {
  const allSettings = [...settings, ...extraSettings];
  return {
    name: 'Redis',
    variable: 'REDIS_URL',
    debianPackage: 'redis-server',
    findProgram: () => findProgram(redisProgram),
    runProgram: (program) => runRedis(program, allSettings),
    container: {
      image: 'redis:7-alpine',
      port: 6379,
      command: ['redis-server', ...allSettings],
      url: (address) => `redis://${address}`,
      isUp,
    },
  };
}

/** A private Redis in its own directory. */
export type RedisServer = PrivateServer & { readonly port: number; readonly directory: string };

/** Runs a Redis with these settings, which are arguments of its command line. */
export async function runRedis(program: string, allSettings: readonly string[]): Promise<RedisServer> {
  const port = await findFreePort();
  const directory = makeServerDirectory('redis');
  const url = `redis://127.0.0.1:${port}`;
  const server = await runPrivately({
    url,
    directory,
    command: program,
    arguments: ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--save', '', ...allSettings],
    stopSignal: 'SIGTERM',
    isUp: () => isUp(url),
  });
  return { ...server, port, directory };
}

/**
 * Returns whether the server is ready, even if it requires a user. While it loads its file, it answers
 * `-LOADING`.
 */
export async function isUp(url: string): Promise<boolean> {
  return /^(?:\+PONG|-NOAUTH)/.test((await exchangeBytes(url, 'PING\r\n')).toString());
}
