import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAuditKeys, sealKeyFrom } from '@clinical-launch/audit-trail/config';
import { createAuditStore } from '@clinical-launch/audit-trail/store/audit-store';
import { openSchema } from '@clinical-launch/audit-trail/store/tables';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { openOrderingDatabase } from '@clinical-launch/ordering/store/database';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { SchemaWait } from '@clinical-launch/storage/storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { databaseAccess } from '../src/access.ts';
import { runOps, runOpsHere } from './run-ops.ts';

const suffix = randomBytes(4).toString('hex');
const ownerName = `owner_${suffix}`;
const services = Object.entries(databaseAccess);
const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-ops-'));
const roleOf = (schema: string) => `${schema}_${suffix}`;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: string;

const addressOf = (name: string) => {
  const url = new URL(database.url);
  url.username = name;
  url.password = `password-of-${name}`;
  return url.href;
};

async function query(url: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the SQLSTATE or message of each refused statement, or undefined for an accepted statement. */
async function refusalsOf(url: string, statements: readonly string[], by: 'code' | 'message' = 'code') {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const refusals: (readonly [string, string | undefined])[] = [];
    for (const statement of statements) {
      const refused = await client.query(statement).then(
        () => undefined,
        (error: pg.DatabaseError) => error[by],
      );
      refusals.push([statement, refused]);
    }
    return refusals;
  } finally {
    await client.end();
  }
}

const allWith = (statements: readonly string[], refusal: unknown) =>
  statements.map((statement) => [statement, refusal]);

async function tablesOfOthers(schema: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: owner });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = any($1) and schemaname <> $2`,
      [services.map(([, access]) => access.schema), schema],
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Opens the schema `ordering` with the role of its service. */
async function openAsService(schemaWait?: SchemaWait) {
  const storage = await openPostgresStorage({
    url: addressOf(roleOf('ordering')),
    applicationName: 'test',
    ...withoutUndefined({ schemaWait }),
  });
  await openOrderingDatabase(storage).finally(() => storage.close());
}

/**
 * Opens the schema, calls `prepare` once the service is waiting, and returns the reported reasons for
 * waiting.
 */
async function openWaiting(prepare: () => Promise<void>): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const { promise: prepared, resolve } = Promise.withResolvers<void>();
  const onWaiting = (reason: unknown) => {
    reasons.push(reason);
    resolve(prepare());
  };
  await Promise.all([openAsService({ withinMs: 60_000, onWaiting }), prepared]);
  return reasons;
}

const anAuditEvent = () =>
  ({
    specversion: '1.0',
    id: randomUUID(),
    source: '/clinical-launch/test',
    type: 'launch.refused.v1',
    time: '2026-11-21T10:00:00.000Z',
    correlationid: randomUUID(),
    traceparent: '00-00000000000000000000000000000001-0000000000000001-01',
    datacontenttype: 'application/json',
    data: {},
  }) as unknown as CloudEvent;

const migrate = (run = runOpsHere) =>
  run(['migrate', '--json'], { DATABASE_URL: owner, SERVICE_SECRETS_DIR: directory });

beforeAll(async () => {
  database = await createTestDatabase();
  owner = addressOf(ownerName);
  await query(
    database.url,
    `create role ${ownerName} login createrole password 'password-of-${ownerName}'`,
    `alter database ${new URL(database.url).pathname.slice(1)} owner to ${ownerName}`,
  );
  for (const [service, { schema }] of services) {
    mkdirSync(join(directory, service));
    writeFileSync(join(directory, service, 'database-url'), `${addressOf(roleOf(schema))}\n`);
  }
});

afterAll(async () => {
  await database.drop();
  const server = new URL(database.url);
  server.pathname = '/postgres';
  const names = [...services.map(([, { schema }]) => roleOf(schema)), ownerName];
  await query(server.href, ...names.map((name) => `drop role if exists ${name}`));
  rmSync(directory, { recursive: true });
});

describe('./clinical-launch migrate', () => {
  it('creates all schemas and roles as an owner who is not a superuser, even concurrently', async () => {
    const runs = [...(await Promise.all([migrate(runOps), migrate(runOps)])), await migrate()];
    expect(runs.map(({ code, errors }) => [code, errors])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    expect(JSON.parse(runs[2]?.output ?? '')).toEqual({
      schemas: services.map(([, { schema }]) => schema),
      roles: services.map(([, { schema }]) => roleOf(schema)),
    });
    expect(runs.map(({ output }) => output).join('')).not.toContain('password-of');
  });

  describe('--check', () => {
    it('lists the pending migrations of an empty database, changes nothing, and exits with 1', async () => {
      const empty = await createTestDatabase();
      const check = () => runOpsHere(['migrate', '--check', '--json'], { DATABASE_URL: empty.url });
      const [first, second] = [await check(), await check()];
      await empty.drop();
      expect(first).toMatchObject({ code: 1, errors: expect.stringMatching(/^ordering: \S+ is pending$/m) });
      expect(second).toEqual(first);
      const { pending } = JSON.parse(first.output);
      expect(Object.keys(pending)).toEqual(services.map(([, { schema }]) => schema));
    });

    it('exits with 0 if the database is up to date', async () => {
      const { code, output, errors } = await runOpsHere(['migrate', '--check'], { DATABASE_URL: owner });
      expect([code, errors]).toEqual([0, '']);
      expect(output).toBe(services.map(([, { schema }]) => `${schema}: up to date\n`).join(''));
    });
  });

  it('lets a service start and work with a role that may not migrate', async () => {
    const storage = await openPostgresStorage({
      url: addressOf(roleOf('audit_trail')),
      applicationName: 'test',
    });
    try {
      const database = await openSchema(storage);
      const store = createAuditStore({ database, sealKey: sealKeyFrom(readAuditKeys({})) });
      const event = anAuditEvent();
      const { correlationid } = event;
      await store.append([event]);
      await store.append([event]);
      expect(await store.findByCorrelation(correlationid, { after: '0', limit: 10 })).toHaveLength(1);
    } finally {
      await storage.close();
    }
  });

  it('lets ordering use its sequence of batch numbers', async () => {
    const address = addressOf(roleOf('ordering'));
    await expect(query(address, `select nextval('ordering.batch_numbers')`)).resolves.toBeUndefined();
  });

  it('lets the audit trail end the claims of its callers, and record its progress', async () => {
    const changes = [
      'delete from audit_trail.originating_id',
      'update audit_trail.originating_id set expires_at = expires_at',
      'update audit_trail.progress set at = at',
    ];
    await expect(query(addressOf(roleOf('audit_trail')), ...changes)).resolves.toBeUndefined();
    expect(await refusalsOf(addressOf(roleOf('audit_trail')), ['delete from audit_trail.progress'])).toEqual(
      allWith(['delete from audit_trail.progress'], '42501'),
    );
  });

  it.each(services)(
    'prevents %s from reading or changing the tables of other services',
    async (_name, { schema }) => {
      const tables = await tablesOfOthers(schema);
      expect(tables.length).toBeGreaterThan(3);
      const attempts = tables.flatMap((table) => [
        `select 1 from ${table}`,
        `insert into ${table} default values`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]);
      const makings = [
        'create schema mine',
        'create table public.mine ()',
        `create table ${schema}.mine ()`,
        'create role mine',
      ];
      const all = [...attempts, ...makings, `update ${schema}.kysely_migration set name = name`];
      expect(await refusalsOf(addressOf(roleOf(schema)), all)).toEqual(allWith(all, '42501'));
    },
  );

  it('lets the audit trail add events, and lets nobody change or remove events, even in later partitions', async () => {
    const tables = ['audit_event', 'audit_event_2026_11', 'checkpoint'];
    const attempts = tables.flatMap((table) => [
      `update audit_trail.${table} set sequence = sequence`,
      `delete from audit_trail.${table}`,
      `truncate audit_trail.${table}`,
      `alter table audit_trail.${table} disable trigger all`,
      `drop table audit_trail.${table}`,
    ]);
    const byService = [...attempts, `select audit_trail.drop_partition('audit_event_2026_11')`];
    const refusals = await refusalsOf(addressOf(roleOf('audit_trail')), byService);
    expect(refusals).toEqual(allWith(byService, '42501'));
    // The role has no permission, independently of the triggers.
    const changes = attempts.filter((attempt) => /^(update|delete|truncate)/.test(attempt));
    expect(await refusalsOf(addressOf(roleOf('audit_trail')), changes, 'message')).toEqual(
      allWith(changes, expect.stringContaining('permission denied')),
    );
    const byOwner = attempts.filter((attempt) =>
      /^(update|delete|truncate) .*(audit_event|checkpoint)/.test(attempt),
    );
    expect(await refusalsOf(owner, byOwner, 'message')).toEqual(
      allWith(byOwner, expect.stringContaining('never changed or removed')),
    );
  });

  describe('a service with an outdated schema', () => {
    // Restores the record of the migration instead of running `migrate`, because the migration cannot be
    // applied twice.
    const putBack =
      'insert into ordering.kysely_migration select * from ordering.forgotten on conflict do nothing';
    beforeEach(() =>
      query(
        owner,
        'create table ordering.forgotten as select * from ordering.kysely_migration',
        'delete from ordering.kysely_migration where name = (select max(name) from ordering.kysely_migration)',
      ),
    );
    afterEach(() => query(owner, putBack, 'drop table ordering.forgotten'));

    it('fails and reports the command to run, because its role may not migrate', async () => {
      await expect(openAsService()).rejects.toThrow(
        'The schema ordering is not up to date. Run `./clinical-launch migrate`, then start again',
      );
    });

    it('waits for the migration if it is configured to wait', async () => {
      const reasons = await openWaiting(() => query(owner, putBack));
      expect(reasons).toEqual([
        expect.objectContaining({ message: expect.stringContaining('not up to date') }),
      ]);
    });
  });

  it('is awaited by a service whose role cannot log in yet', async () => {
    const role = roleOf('ordering');
    await query(owner, `alter role ${role} nologin`);
    expect(await openWaiting(() => query(owner, `alter role ${role} login`))).toHaveLength(1);
  });

  it('refuses a password of the demo in production', async () => {
    const { code, errors } = await runOpsHere(['migrate'], {
      NODE_ENV: 'production',
      DATABASE_URL: 'postgres://clinical_launch_owner:demo-database-owner@127.0.0.1:1/none',
    });
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringContaining(
        'DATABASE_URL contains a password of the demo, which is publicly known',
      ),
    });
  });

  it('refuses a service role with too many rights', async () => {
    const path = join(directory, 'ordering', 'database-url');
    writeFileSync(path, owner);
    const { code, errors } = await migrate();
    writeFileSync(path, addressOf(roleOf('ordering')));
    expect([code, errors]).toEqual([1, expect.stringContaining('has more rights than a service may have')]);
  });

  it('exits with 2 and changes nothing for wrong arguments', async () => {
    expect(await runOpsHere(['migrate'], { DATABASE_URL: '' })).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^DATABASE_URL is not set\. .*DATABASE_URL=\.\.\. npm start\n$/),
    });
    expect(await runOpsHere(['nothing'], {})).toMatchObject({ code: 2 });
    expect(await runOpsHere(['migrate', '--help'], {})).toMatchObject({
      code: 0,
      output: expect.stringContaining('Usage'),
    });
  });
});
