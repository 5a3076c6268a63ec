import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAuditKeys, sealKeyFrom } from '@clinical-launch/audit-trail/config';
import { createAuditStore } from '@clinical-launch/audit-trail/store/audit-store';
import { openSchema } from '@clinical-launch/audit-trail/store/tables';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { runOps, runOpsHere } from './run-ops.ts';

const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-audit-'));
const table = 'audit_trail.audit_event_2026_03';
let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
  const storage = await openPostgresStorage({ url: database.url, applicationName: 'test' });
  const schema = await openSchema(storage);
  const store = createAuditStore({ database: schema, sealKey: sealKeyFrom(readAuditKeys({})) });
  const events = Array.from({ length: 4 }, (_, index) =>
    createEvent(
      'launch.token.refused.v1',
      {
        source: '/launch-gateway',
        correlationId: '5f4d9c0e-8a51-4b7c-9d0a-0f8f3f2b6a11',
        traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
        now: new Date(`2026-03-0${index + 1}T10:00:00Z`),
      },
      { status: 410, reason: 'token_used', user: { username: `user${index}` } },
    ),
  );
  await store.append(events);
  await storage.close();
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

const ops = (...args: string[]) => runOpsHere(['audit', ...args], { DATABASE_URL: database.url });

async function asSuperuser(...statements: string[]) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  for (const statement of [
    `alter table ${table} disable trigger all`,
    ...statements,
    `alter table ${table} enable trigger all`,
  ])
    await client.query(statement);
  await client.end();
}

describe('./clinical-launch audit export', () => {
  it('prints the matching events, one per line, and is audited itself', async () => {
    const { code, output, errors } = await ops(
      'export',
      '--outcome',
      'refused',
      '--from',
      '2026-03-02',
      '--to',
      '2026-03-04',
    );
    expect([code, errors]).toEqual([0, '']);
    const users = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).user);
    expect(users).toEqual(['user2', 'user1']);
    const searched = await ops('export', '--type', 'audit.searched.v1', '--json');
    expect(JSON.parse(searched.output)).toContainEqual(
      expect.objectContaining({
        client: 'ops',
        user: expect.any(String),
        event: expect.objectContaining({
          data: expect.objectContaining({ criteria: ['from', 'to', 'outcome'], format: 'ndjson' }),
        }),
      }),
    );
  });
});

describe('./clinical-launch audit verify', () => {
  it('finds no faults in an unchanged audit trail', async () => {
    const { code, output } = await ops('verify', '--day', '2026-03-02');
    expect([code, output]).toEqual([0, '1 rows and 0 checkpoints verified, 0 faults\n']);
    expect(await ops('verify')).toMatchObject({ code: 0, errors: '' });
  });

  it('exits with 1 and reports each row that a superuser changed or removed', async () => {
    await asSuperuser(
      `update ${table} set address = '192.0.2.66' where sequence = 1`,
      `delete from ${table} where sequence = 3`,
    );
    const { code, errors } = await runOps(['audit', 'verify'], { DATABASE_URL: database.url });
    expect(code).toBe(1);
    expect(errors.split('\n')).toEqual([
      expect.stringMatching(
        /^Partition audit_event_2026_03, row 1 \([0-9a-f-]{36}, 2026-03-01T10:00:00.000Z\) was changed$/,
      ),
      'Partition audit_event_2026_03, row 3 is missing',
      '',
    ]);
    expect(JSON.parse((await ops('verify', '--json')).output)).toMatchObject({
      faults: [
        { kind: 'changed', sequence: 1 },
        { kind: 'removed', sequence: 3 },
      ],
    });
    expect((await ops('verify', '--from', '2026-03-04', '--to', '2026-03-04')).errors).toContain(
      'row 3 is missing',
    );
  });

  it('reads external checkpoints, and exits with 2 for wrong arguments', async () => {
    const path = join(directory, 'checkpoints');
    writeFileSync(path, 'not.a.checkpoint\n');
    expect((await ops('verify', '--checkpoints', path)).errors).toContain(
      'Checkpoint in line 1 was not signed',
    );
    for (const args of [
      ['--day', '2026-13-01'],
      ['--day', '2026-03-01', '--from', '2026-03-01'],
      ['--checkpoints', '/nowhere'],
    ]) {
      expect([args, (await ops('verify', ...args)).code]).toEqual([args, 2]);
    }
  });
});

describe('./clinical-launch audit checkpoints', () => {
  it('prints nothing if no checkpoint has been signed', async () => {
    expect(await ops('checkpoints')).toMatchObject({ code: 0, output: '' });
  });
});
