import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPlatformNames } from '@clinical-launch/simulators/platform-names';
import { playDesktopLaunch } from '@clinical-launch/simulators/play/desktop-launch';
import { playOltrLaunch } from '@clinical-launch/simulators/play/oltr-launch';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { root, run } from './run-command.ts';
import { createDemoPms, startPlatformForTest } from './running-platform.ts';

type Database = Awaited<ReturnType<typeof createTestDatabase>>;
type Platform = Awaited<ReturnType<typeof startPlatformForTest>>;

/**
 * All platforms that a test starts use this port, because claims on identifiers contain the address of the
 * issuer.
 */
let port: number;

/** Starts the platform on a database, with an empty Redis and an empty RabbitMQ. */
const startOn = (database: Database) => {
  const own = `restore-${randomUUID()}`;
  return startPlatformForTest({
    environment: {
      PORT: `${port}`,
      REDIS_URL: process.env.TEST_REDIS_URL,
      REDIS_PREFIX: own,
      AMQP_URL: process.env.TEST_AMQP_URL,
      AMQP_NAMESPACE: own,
      DATABASE_URL: database.url,
    },
    logLevel: 'error',
  });
};

/** Requests a launch URL. Returns its correlation id, or the status of the refusal. */
async function requestLaunch({ url }: Platform, originatingId: string): Promise<string | number> {
  const pms = createDemoPms(url);
  return pms.requestLaunch(aServiceRequest({ originatingId })).then(
    ({ correlationId }) => correlationId,
    (error: { status: number }) => error.status,
  );
}

/** Uses an identifier on the platform, and stops the platform when the audit trail has stored the launch. */
async function useIdentifier(database: Database, originatingId: string): Promise<void> {
  const platform = await startOn(database);
  try {
    const correlationId = String(await requestLaunch(platform, originatingId));
    await platform.storyOf(correlationId, ['launch.url.issued.v1'], await platform.tokenOf('audit-demo'));
  } finally {
    await platform.stop();
  }
}

/**
 * Returns the commands of the operator's guide that back up and restore PostgreSQL.
 * @throws Error unless they are the same for Compose and Kubernetes
 */
function commandsOfGuide(): { backUp: string; restore: string } {
  const guide = readFileSync(`${root}docs/guides/operate.md`, 'utf8');
  const inContainer =
    /^ {4}(?:docker compose exec -T postgres|kubectl exec (?:-i )?postgres-0 --) (pg_.*)$/gm;
  const commands = new Set([...guide.matchAll(inContainer)].map(([, command = '']) => command));
  const [backUp, restore, ...others] = commands;
  if (backUp === undefined || restore === undefined || others.length > 0)
    throw new Error('The guide must contain the same pg_dump and pg_restore for Compose and Kubernetes');
  return { backUp, restore };
}

/** Runs a command of the guide in a folder, with the server, user and name of a database. */
function runOn({ url }: Database, command: string, folder: string): void {
  const { hostname, port: serverPort, username, password, pathname } = new URL(url);
  const own = command
    .replace('-U clinical_launch', `-U ${decodeURIComponent(username)}`)
    .replace(/ clinical_launch(?= |$)/, ` ${pathname.slice(1)}`);
  const server = { PGHOST: hostname, PGPORT: serverPort, PGPASSWORD: decodeURIComponent(password) };
  execFileSync('sh', ['-c', own], { cwd: folder, env: { ...process.env, ...server } });
}

/** Runs `./clinical-launch audit` on a database. */
async function audit(database: Database, ...args: string[]) {
  const command = run('node', ['tools/ops/src/main.ts', 'audit', ...args], { DATABASE_URL: database.url });
  return { code: await command.exited, output: command.output() };
}

/** Creates a table that the backup lacks, as the migrations of a newer release do. */
async function addTable({ url }: Database): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table audit_trail.of_newer_release (id int)');
  await client.end();
}

describe('a platform on an empty Redis, an empty RabbitMQ and a PostgreSQL restored by the guide', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-restore-'));
  const checkpoints = join(folder, 'checkpoints');
  let database: Database;
  let platform: Platform;
  beforeAll(async () => {
    port = await findFreePort();
    database = await createTestDatabase();
    const { backUp, restore } = commandsOfGuide();
    await useIdentifier(database, 'before-the-backup');
    runOn(database, backUp, folder);
    await useIdentifier(database, 'after-the-backup');
    writeFileSync(checkpoints, (await audit(database, 'checkpoints')).output);
    await addTable(database);
    runOn(database, restore, folder);
    platform = await startOn(database);
  });
  afterAll(async () => {
    await platform.stop();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('lacks the newest audit rows, which `audit verify` reports only if checkpoints were stored elsewhere', async () => {
    expect(await audit(database, 'verify')).toMatchObject({ code: 0 });
    const { code, output } = await audit(database, 'verify', '--checkpoints', checkpoints);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/Partition audit_event_\d{4}_\d{2}, rows? \d+.* is missing/),
    ]);
  });

  it('refuses an originating id that was used before the backup', async () => {
    expect(await requestLaunch(platform, 'before-the-backup')).toBe(409);
  });

  it('accepts a new use of an originating id whose first use is not in the backup', async () => {
    expect(await requestLaunch(platform, 'after-the-backup')).not.toBe(409);
    expect(await requestLaunch(platform, 'after-the-backup')).toBe(409);
  });

  it('plays both launches', async () => {
    const played = { baseUrl: platform.url, ...readPlatformNames({}) };
    await expect(playOltrLaunch(played)).resolves.toBeUndefined();
    await expect(playDesktopLaunch(played)).resolves.toBeUndefined();
  });
});
