import { readFileSync } from 'node:fs';
import { compareReleases, type ServiceMigration } from '@clinical-launch/storage';
import { openPostgresStorage } from '@clinical-launch/storage/postgres';
import { createTestDatabase } from '@clinical-launch/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  describeRelease,
  describeReleaseIn,
  faultsOfMigrations,
  faultsSince,
  type ReleasedSchemas,
} from '../../src/migrations/check-migrations.ts';
import { releasedSchemas } from '../../src/migrations/released-schemas.ts';
import { type ServiceSchema, serviceSchemas } from '../../src/migrations/service-migrations.ts';
import { createTrialDatabase, type TrialDatabase } from '../../src/migrations/trial-database.ts';
import { runOps, runOpsHere } from '../run-ops.ts';

let trial: TrialDatabase;
beforeAll(() => {
  trial = createTrialDatabase();
});
afterAll(() => trial.close());

const released = releasedSchemas();
const rights = { privileges: ['select', 'insert'] } as const;
const runs = (statement: string, more: Omit<ServiceMigration, 'up'> = {}): ServiceMigration => ({
  ...more,
  up: (db) =>
    sql
      .raw(statement)
      .execute(db)
      .then(() => undefined),
});
const first = { '001-thing': runs('create table ours.thing (id bigint primary key, name text, note text)') };
const ours = (migrations: ServiceSchema['migrations'] = {}): ServiceSchema => ({
  schema: 'ours',
  migrations: { ...first, ...migrations },
  rights,
});
const releaseOf = (service: ServiceSchema, release = '1.1.0'): Promise<ReleasedSchemas> =>
  describeReleaseIn(trial, release, [service]);

describe('the migrations of the platform', () => {
  it.each(serviceSchemas.map((service) => [service.schema, service] as const))(
    '%s: each lets processes from before it work, or says why it does',
    async (_schema, service) => {
      expect(await faultsOfMigrations(trial, service, { applied: [] })).toEqual([]);
    },
  );

  it('since the newest release let its processes work', async () => {
    expect(await faultsSince(trial, released, serviceSchemas)).toEqual([]);
  });

  it('up to the newest release are frozen: their result is the one that `npm run schemas` described', async () => {
    const asReleased = serviceSchemas.map((service) => {
      const names = released.schemas[service.schema]?.migrations ?? [];
      const migrations = Object.entries(service.migrations).filter(([name]) => names.includes(name));
      return { ...service, migrations: Object.fromEntries(migrations) };
    });
    const { schemas } = await describeRelease(released.release, asReleased);
    const withoutRights = (described: ReleasedSchemas['schemas']) =>
      Object.entries(described).map(([schema, { rights: _rights, ...rest }]) => [schema, rest]);
    expect(withoutRights(schemas)).toEqual(withoutRights(released.schemas));
  });

  it('are compared with a release before this one, so `npm run schemas` was not forgotten nor run too early', () => {
    const root = new URL('../../../../', import.meta.url);
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    const changes = readFileSync(new URL('CHANGELOG.md', root), 'utf8');
    const [, newest] = /^## \[?(\d+\.\d+\.\d+)/m.exec(changes) ?? [];
    expect(compareReleases(released.release, version)).toBeLessThan(0);
    expect(released.release).toBe(newest ?? '0.0.0');
  });
});

describe('a migration', () => {
  it('that removes what the release before reads is refused, with its name', async () => {
    const next = ours({ '002-less': runs('alter table ours.thing drop column note') });
    expect(await faultsSince(trial, await releaseOf(ours()), [next])).toEqual([
      'ours: 002-less drops the column thing.note',
    ]);
  });

  it('may say why it is compatible, for exactly what it does', async () => {
    const compatible = {
      'drops the column thing.note': 'no release read it',
      'drops the table thing': 'never',
    };
    const next = ours({ '002-less': runs('alter table ours.thing drop column note', { compatible }) });
    expect(await faultsSince(trial, await releaseOf(ours()), [next])).toEqual([
      'ours: 002-less is said to be compatible although it "drops the table thing", which it does not do',
    ]);
  });

  it.each([
    [
      '1.0.0',
      [
        'ours: 002-less-after-1.0.0 must wait until no process of release 1.0.0 runs: release 1.0.0 runs beside it',
      ],
    ],
    [
      '0.9.0',
      [
        'ours: 002-less-after-1.0.0 must wait until no process of release 1.0.0 runs: release 0.9.0 runs beside it',
      ],
    ],
    ['1.0.1', []],
    ['1.10.0', []],
  ])('that removes what 1.0.0 is the last to use is judged beside release %s', async (running, faults) => {
    const next = ours({ '002-less-after-1.0.0': runs('drop table ours.thing') });
    expect(await faultsSince(trial, await releaseOf(ours(), running), [next])).toEqual(faults);
  });

  it('of an earlier release may not be missing', async () => {
    const release = await releaseOf(ours({ '002-more': runs('create table ours.more ()') }));
    expect(await faultsSince(trial, release, [ours()])).toEqual([
      'ours: 002-more of release 1.1.0 is missing',
    ]);
  });
});

describe('the rights of a service', () => {
  it('may not shrink while the release before runs, but with a reason or a last step', async () => {
    const release = await releaseOf(ours());
    const fewer = { ...ours(), rights: { privileges: ['select'] } as const };
    expect(await faultsSince(trial, release, [fewer])).toEqual([
      'ours: this release revokes insert on thing',
    ]);
    const because = { 'revokes insert on thing': 'release 1.0.0 reads it only' };
    expect(await faultsSince(trial, release, [{ ...fewer, compatible: because }])).toEqual([]);
    expect(await faultsSince(trial, release, [{ ...ours(), compatible: because }])).toEqual([
      'ours: this release is said to be compatible although it "revokes insert on thing", which it does not do',
    ]);
    const step = { '002-less-after-1.0.0': runs('alter table ours.thing drop column note') };
    expect(await faultsSince(trial, release, [{ ...fewer, migrations: { ...first, ...step } }])).toEqual([]);
  });
});

describe('npm run ops -- migrate --check', () => {
  const check = async (applied: Readonly<Record<string, readonly string[]>>, runCommand = runOps) => {
    const database = await createTestDatabase();
    const storage = await openPostgresStorage({ url: database.url, applicationName: 'test' });
    try {
      for (const { schema, migrations } of serviceSchemas) {
        const names = applied[schema];
        if (names === undefined) continue;
        const own = Object.entries(migrations).filter(([name]) => names.includes(name));
        await storage.open(schema, Object.fromEntries(own));
      }
      const run = await runCommand(['migrate', '--check', '--json'], { DATABASE_URL: database.url });
      const left = await Promise.all(serviceSchemas.map(({ schema }) => storage.appliedMigrations(schema)));
      expect(left).toEqual(serviceSchemas.map(({ schema }) => applied[schema] ?? []));
      return run;
    } finally {
      await storage.close();
      await database.drop();
    }
  };
  const all = Object.fromEntries(
    serviceSchemas.map(({ schema, migrations }) => [schema, Object.keys(migrations).toSorted()]),
  );

  it('accepts an empty database, one of the newest release, and one that is up to date', async () => {
    const ofRelease = Object.fromEntries(
      Object.entries(released.schemas).map(([schema, { migrations }]) => [schema, migrations]),
    );
    const states = [
      [{}, all],
      [all, Object.fromEntries(Object.keys(all).map((schema) => [schema, []]))],
      [
        ofRelease,
        Object.fromEntries(
          Object.entries(all).map(([schema, names]) => [
            schema,
            names.filter((name) => ofRelease[schema]?.includes(name) !== true),
          ]),
        ),
      ],
    ] as const;
    const runs = await Promise.all(states.map(([applied]) => check(applied, runOpsHere)));
    expect(
      runs.map(({ code, errors, output }) => ({ code, errors, report: JSON.parse(output || 'null') })),
    ).toEqual(states.map(([, pending]) => ({ code: 0, errors: '', report: { pending, faults: [] } })));
  });

  it('refuses a database that lacks migrations of the newest release: one was left out', async () => {
    const { code, errors } = await check({ ...all, ordering: ['001-outbox'] });
    expect(code).toBe(1);
    expect(errors).toContain('ordering: the database lacks 002-drafts-and-test-requests, 003-submissions,');
    expect(errors).toContain(`Update to release ${released.release} first`);
  });
});
