import { execFile } from 'node:child_process';
import { chownSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import pg from 'pg';
import { findFreePort, makeServerDirectory, type PrivateServer, runPrivately } from './private-server.ts';
import { findProgram, type ServerKind, startPrivate } from './server-kind.ts';

const run = promisify(execFile);

/**
 * The server that all tests of a run share. It is never killed, so it need not flush its commits. Automatic
 * vacuum is off, so that it holds no lock while a test runs.
 */
export const sharedPostgres = postgresWith([
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off',
  'max_connections=300',
  // Small values, because the write-ahead log and the buffers are in memory. Dropping a database is also
  // faster if PostgreSQL has fewer buffers to search.
  'max_wal_size=128MB',
  'shared_buffers=32MB',
]);

/**
 * Starts a PostgreSQL for the test, with an empty cluster. Except for `settings`, it has the defaults of
 * PostgreSQL (every commit is flushed).
 */
export function startPostgres(settings: readonly string[] = []): Promise<PrivateServer> {
  return startPrivate(postgresWith(settings));
}

/** @param settings in the form `name=value` */
function postgresWith(settings: readonly string[]): ServerKind {
  // Shared memory is in the data directory, which is removed even after a kill -9.
  const shared = 'dynamic_shared_memory_type=mmap';
  const options = [shared, ...settings].flatMap((setting) => ['-c', setting]);
  return {
    name: 'PostgreSQL',
    variable: 'DATABASE_URL',
    debianPackage: 'postgresql',
    findProgram: () => findNewestDebianProgram() ?? findProgram('postgres'),
    runProgram: (program) => runPostgres(program, options),
    container: {
      image: 'postgres:17-alpine',
      port: 5432,
      command: ['postgres', ...options],
      environment: { POSTGRES_HOST_AUTH_METHOD: 'trust' },
      url: (address) => `postgres://postgres@${address}/postgres`,
      isUp,
    },
  };
}

async function runPostgres(program: string, options: readonly string[]): Promise<PrivateServer> {
  const port = await findFreePort();
  const directory = makeServerDirectory('postgres');
  const user = await findUnprivilegedUser();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  await run(
    join(dirname(program), 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { cwd: directory, ...user },
  );
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return runPrivately({
    url,
    directory,
    command: program,
    arguments: ['-D', data, '-p', `${port}`, '-k', directory, '-c', 'listen_addresses=127.0.0.1', ...options],
    ...withoutUndefined({ user }),
    // SIGINT is the "fast" shutdown: PostgreSQL ends all sessions, then writes a checkpoint.
    stopSignal: 'SIGINT',
    isUp: () => isUp(url),
  });
}

/** Returns another user if this user is root, because PostgreSQL refuses to run as root. */
async function findUnprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

/**
 * Finds the newest PostgreSQL of Debian, which installs each major version in a directory that is not in
 * `PATH`.
 */
function findNewestDebianProgram(): string | undefined {
  return globSync('/usr/lib/postgresql/*/bin/postgres')
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
}

/** Resolves with true when the server answers a query. @throws Error when it does not answer */
export async function isUp(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    await client.end();
  }
}
