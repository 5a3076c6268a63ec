import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Generated, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { readMigrations } from '../src/service-migration.ts';
import type { Storage } from '../src/storage.ts';

type Tables = { thing: { id: Generated<string>; name: string } };

/** Returns migrations that create and fill a table, and a list of the migrations that ran. */
function someMigrations(schema: string) {
  const runs: string[] = [];
  const migration = (name: string, up: (db: Kysely<unknown>) => Promise<unknown>): [string, Migration] => [
    name,
    {
      up: async (db: Kysely<unknown>) => {
        runs.push(name);
        await up(db);
      },
    },
  ];
  const migrations = Object.fromEntries([
    migration('001-thing', (db) =>
      sql`create table ${sql.id(schema)}.thing (
        id bigint generated always as identity primary key,
        name text not null
      )`.execute(db),
    ),
    migration('002-first', (db) =>
      sql`insert into ${sql.id(schema)}.thing (name) values (${'first'})`.execute(db),
    ),
  ]);
  return { runs, migrations };
}

const namesIn = async (database: Kysely<Tables>) =>
  (await database.selectFrom('thing').select('name').orderBy('id').execute()).map(({ name }) => name);

/**
 * Tests an implementation of `Storage`. Every call of `open` opens the same database, which no other suite
 * uses.
 */
export function describeStorage(name: string, open: () => Promise<Storage>): void {
  describe(`Storage (${name})`, () => {
    let storage: Storage;
    beforeAll(async () => {
      storage = await open();
    });
    afterAll(() => storage.close());

    describe('the migrations of a service', () => {
      it('run once and in order, however often the schema is opened', async () => {
        const { runs, migrations } = someMigrations('often');
        const database = await storage.open<Tables>('often', migrations);
        await storage.open<Tables>('often', migrations);
        expect(runs).toEqual(['001-thing', '002-first']);
        expect(await namesIn(database)).toEqual(['first']);
      });

      it('run once if many replicas start at the same time', async () => {
        const { runs, migrations } = someMigrations('together');
        const replicas = await Promise.all(
          Array.from({ length: 8 }, () => storage.open<Tables>('together', migrations)),
        );
        expect(runs).toEqual(['001-thing', '002-first']);
        for (const database of replicas) expect(await namesIn(database)).toEqual(['first']);
      });

      it('of the next release do not prevent a process of this release from starting', async () => {
        const { migrations } = someMigrations('update');
        const step = { up: async () => undefined };
        const next = { ...migrations, '003-more': step, '004-less-after-0.0.9': step };
        await storage.open<Tables>('update', next);
        const database = await storage.open<Tables>('update', migrations);
        expect(await namesIn(database)).toEqual(['first']);
        await storage.open<Tables>('update', next);
      });

      it('prevent the start of a release that still uses a removed table or column', async () => {
        const { migrations } = someMigrations('ended');
        await storage.open('ended', {
          ...migrations,
          '003-less-after-99.0.0': { up: async () => undefined },
        });
        await expect(storage.open('ended', migrations)).rejects.toThrow(
          /^The schema ended has the migration 003-less-after-99.0.0: this release, \d+\.\d+\.\d+, can no longer/,
        );
      });

      it('prevent the start if an applied migration is missing from the release', async () => {
        const { migrations } = someMigrations('gap');
        await storage.open('gap', migrations);
        const { '001-thing': _, ...others } = migrations;
        await expect(storage.open('gap', others)).rejects.toThrow('The migration of the schema gap failed');
      });

      it('come from the .sql files of a folder, and each file runs in one transaction', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
        const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
        const read = () => readMigrations(pathToFileURL(`${folder}/`));
        write('README.md', 'no migration');
        write(
          '001-thing.sql',
          `-- A comment; with a semicolon and one quote: '
          create table files.thing (id bigint generated always as identity primary key, name text not null);
          create function files.name() returns text language plpgsql as $$ begin return 'it''s \\ named'; end $$;
          insert into files.thing (name) values (files.name());`,
        );
        write(
          '002-broken.sql',
          `insert into files.thing (name) values ('lost'); insert into files.none values (1);`,
        );
        await expect(storage.open('files', read())).rejects.toThrow(
          'The migration of the schema files failed',
        );
        rmSync(join(folder, '002-broken.sql'));
        expect(await namesIn(await storage.open<Tables>('files', read()))).toEqual([`it's \\ named`]);
        rmSync(folder, { recursive: true });
      });

      it('run at the same time as migrations of other services', async () => {
        const names = ['one', 'two', 'three'];
        const databases = await Promise.all(
          names.map((name) => storage.open<Tables>(name, someMigrations(name).migrations)),
        );
        for (const [index, database] of databases.entries()) {
          await database
            .insertInto('thing')
            .values({ name: names[index] ?? '' })
            .execute();
        }
        expect(await Promise.all(databases.map(namesIn))).toEqual(names.map((name) => ['first', name]));
      });

      it('continue from the schema of the previous release', async () => {
        const { migrations } = someMigrations('grown');
        const { '001-thing': first = { up: async () => undefined } } = migrations;
        const before = await storage.open<Tables>('grown', { '001-thing': first });
        await before.insertInto('thing').values({ name: 'old' }).execute();
        expect(await namesIn(await storage.open<Tables>('grown', migrations))).toEqual(['old', 'first']);
      });

      it('are all rolled back if one migration fails, and can run again after the faulty migration is corrected', async () => {
        const { migrations } = someMigrations('failed');
        const broken = {
          ...migrations,
          '003-broken': { up: async () => Promise.reject(new Error('no such column')) },
        };
        await expect(storage.open<Tables>('failed', broken)).rejects.toMatchObject({
          message: 'The migration of the schema failed failed',
          cause: { message: 'no such column' },
        });
        expect(await namesIn(await storage.open<Tables>('failed', migrations))).toEqual(['first']);
      });
    });

    describe('the database', () => {
      it('gives each service its own schema', async () => {
        const [mine, theirs] = await Promise.all(
          ['mine', 'theirs'].map((name) => storage.open<Tables>(name, someMigrations(name).migrations)),
        );
        await mine?.insertInto('thing').values({ name: 'mine' }).execute();
        expect(theirs && (await namesIn(theirs))).toEqual(['first']);
      });

      it('returns 64-bit integers as text, as the pg driver does', async () => {
        const database = await storage.open<Tables>('counted', someMigrations('counted').migrations);
        const { count, id } = await database
          .selectFrom('thing')
          .select(({ fn }) => [fn.countAll<string>().as('count'), fn.max('id').as('id')])
          .executeTakeFirstOrThrow();
        expect({ count, id }).toEqual({ count: '1', id: '1' });
        const { rows } = await sql<{ big: string }>`select 9007199254740993::int8 as big`.execute(database);
        expect(rows).toEqual([{ big: '9007199254740993' }]);
      });

      it('returns values of every type unchanged', async () => {
        const values = {
          json: { name: "Zoë Ó'Brien \u{20bb7}", list: [1, null, 'x'], 'back\\slash': '"' },
          texts: ['one', 'two, "three"', ''],
          none: null,
          moment: new Date('2026-03-02T09:30:00.123Z'),
          bytes: new Uint8Array([0, 1, 254, 255]),
          amount: '12345678901234567890.5',
          flag: true,
          whole: 2147483647,
        };
        const { rows } = await sql`select
          ${JSON.stringify(values.json)}::jsonb as json,
          ${values.texts}::text[] as texts,
          ${null}::text as none,
          ${values.moment.toISOString()}::timestamptz as moment,
          ${values.bytes}::bytea as bytes,
          ${values.amount}::numeric as amount,
          ${values.flag}::boolean as flag,
          ${values.whole}::integer as whole
        `.execute(await storage.open('values', {}));
        // The pg driver returns a Buffer, which is also a Uint8Array.
        const [row] = rows as { bytes: Uint8Array }[];
        expect({ ...row, bytes: new Uint8Array(row?.bytes ?? []) }).toEqual(values);
      });

      it.each([
        [
          'a duplicate name',
          sql`insert into refused.thing (id, name) overriding system value values (1, ${'Smith'})`,
          '23505',
        ],
        ['a row that a check refuses', sql`insert into refused.thing (name) values (${'Smith!'})`, '23514'],
        ['an absent value', sql`insert into refused.thing (id, name) values (default, null)`, '23502'],
        ['a value of another type', sql`select ${'Smith'}::text::uuid`, '22P02'],
        ['a NUL character', sql`insert into refused.thing (name) values (${'Smith\0'})`, '22021'],
        ['an absent table', sql`select * from refused.absent where name = ${'Smith'}`, '42P01'],
      ])('refuses %s with the standard error code, without values', async (_, statement, code) => {
        const { migrations } = someMigrations('refused');
        const database = await storage.open<Tables>('refused', {
          ...migrations,
          '003-check': {
            up: async (db: Kysely<unknown>) => {
              await sql`alter table refused.thing add check (name not like '%!')`.execute(db);
            },
          },
        });
        const error: unknown = await statement.execute(database).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code });
        expect(inspect(error, { depth: null, showHidden: true })).not.toContain('Smith');
        expect(await namesIn(database)).toEqual(['first']);
      });

      it('is ready until it is closed', async () => {
        const another = await open();
        expect(await another.isReady()).toBe(true);
        await another.close();
        expect(await another.isReady()).toBe(false);
      });
    });
  });
}
