import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDialect } from '@clinical-launch/simulators/dialect';
import { playDesktopLaunch } from '@clinical-launch/simulators/play/desktop-launch';
import { playOltrLaunch } from '@clinical-launch/simulators/play/oltr-launch';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { createTestDatabase } from '@clinical-launch/testing/test-database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from './run-command.ts';
import { createDemoPms, startPlatformForTest } from './running-platform.ts';

type Database = Awaited<ReturnType<typeof createTestDatabase>>;
type Platform = Awaited<ReturnType<typeof startPlatformForTest>>;

/** The port of every start, because claims on identifiers contain the address of the issuer. */
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

/** Runs `npm run ops -- audit` on a database. */
async function audit(database: Database, ...args: string[]) {
  const command = run('node', ['tools/ops/src/main.ts', 'audit', ...args], { DATABASE_URL: database.url });
  return { code: await command.exited, output: command.output() };
}

describe('a platform on an empty Redis, an empty RabbitMQ and an earlier backup of PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-restore-'));
  const dump = join(folder, 'clinical_launch.dump');
  const checkpoints = join(folder, 'checkpoints');
  let lost: Database;
  let restored: Database;
  let platform: Platform;
  beforeAll(async () => {
    port = await findFreePort();
    lost = await createTestDatabase();
    restored = await createTestDatabase();
    await useIdentifier(lost, 'before-the-backup');
    execFileSync('pg_dump', ['--format=custom', `--file=${dump}`, `--dbname=${lost.url}`]);
    await useIdentifier(lost, 'after-the-backup');
    writeFileSync(checkpoints, (await audit(lost, 'checkpoints')).output);
    execFileSync('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${restored.url}`, dump]);
    platform = await startOn(restored);
  });
  afterAll(async () => {
    await platform.stop();
    await lost.drop();
    await restored.drop();
    rmSync(folder, { recursive: true });
  });

  it('lacks rows that `audit verify` reports only with checkpoints that were stored elsewhere', async () => {
    expect(await audit(restored, 'verify')).toMatchObject({ code: 0 });
    const { code, output } = await audit(restored, 'verify', '--checkpoints', checkpoints);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/Partition audit_event_\d{4}_\d{2}, rows? \d+.* is missing/),
    ]);
  });

  it('refuses an originating id that was used before the backup', async () => {
    expect(await requestLaunch(platform, 'before-the-backup')).toBe(409);
  });

  it('accepts an originating id again whose first use is not in the backup', async () => {
    expect(await requestLaunch(platform, 'after-the-backup')).not.toBe(409);
    expect(await requestLaunch(platform, 'after-the-backup')).toBe(409);
  });

  it('plays both launches', async () => {
    const played = { baseUrl: platform.url, ...readDialect({}) };
    await expect(playOltrLaunch(played)).resolves.toBeUndefined();
    await expect(playDesktopLaunch(played)).resolves.toBeUndefined();
  });
});
