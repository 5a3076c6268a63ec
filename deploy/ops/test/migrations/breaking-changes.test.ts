import type { Storage } from '@clinical-launch/storage';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded';
import { describeSchema, type SchemaDescription } from '@clinical-launch/storage/schema';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type QueryExecutorProvider, sql } from 'kysely';
import { breakingChanges, revokedRights } from '../../src/migrations/breaking-changes.ts';

const runs = (...statements: readonly string[]) => ({
  async up(db: QueryExecutorProvider) {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
const first = runs(
  `create table s.thing (
    id bigint generated always as identity primary key, name text not null, code varchar(10) unique,
    state text not null default 'new' check (state in ('new', 'old')), note text, size integer
  )`,
  'create unique index on s.thing (name, note)',
  'create index on s.thing (size)',
  'create sequence s.numbers',
  `create function s.next(place integer) returns bigint language sql security definer as 'select 1::bigint'`,
  `create function s.touch() returns trigger language plpgsql as 'begin return new; end'`,
  'create trigger touched before update on s.thing for each row execute function s.touch()',
);

let storage: Storage;
let database: Awaited<ReturnType<Storage['open']>>;
let before: SchemaDescription;
beforeAll(async () => {
  storage = await openEmbeddedStorage();
  database = await storage.open('s', { '001-first': first });
  before = await describeSchema(database, 's');
});
afterAll(() => storage.close());

/** Applies statements to a schema with a table, returns what the comparison finds, and undoes them. */
async function changesBy(...statements: readonly string[]): Promise<readonly string[]> {
  const transaction = await database.startTransaction().execute();
  try {
    await runs(...statements).up(transaction);
    return breakingChanges(before, await describeSchema(transaction, 's'));
  } finally {
    await transaction.rollback().execute();
  }
}

describe('a change of a schema stops processes of the release before', () => {
  it.each([
    ['drop table s.thing', ['drops the table thing']],
    ['alter table s.thing rename to things', ['drops the table thing']],
    ['alter table s.thing drop column size', ['drops the column thing.size']],
    ['alter table s.thing rename column size to length', ['drops the column thing.size']],
    [
      'alter table s.thing alter size type smallint',
      ['changes the type of thing.size from integer to smallint'],
    ],
    ['alter table s.thing alter size type bigint', ['changes the type of thing.size from integer to bigint']],
    [
      'alter table s.thing alter code type varchar(9)',
      ['changes the type of thing.code from character varying(10) to character varying(9)'],
    ],
    ['alter table s.thing alter note set not null', ['requires the column thing.note']],
    ['alter table s.thing add place text not null', ['requires the column thing.place']],
    ['alter table s.thing alter name drop not null', ['lets the column thing.name be null']],
    ['alter table s.thing alter state drop default', ['drops the default of thing.state']],
    [
      'alter table s.thing alter size set not null, alter size add generated always as identity',
      ['requires the column thing.size', 'fills thing.size itself (identity)'],
    ],
    ['alter table s.thing drop constraint thing_code_key', ['drops UNIQUE (code) of thing']],
    ['alter table s.thing add unique (note)', ['adds UNIQUE (note) to thing']],
    ['alter table s.thing add check (size > 0)', ['adds CHECK ((size > 0)) to thing']],
    [`alter table s.thing add place text default 'x' unique`, ['adds UNIQUE (place) to thing']],
    [
      'alter table s.thing add owner bigint, add unique (owner, size)',
      ['adds UNIQUE (owner, size) to thing'],
    ],
    [
      'drop index s.thing_name_note_idx',
      ['drops the index CREATE UNIQUE INDEX ON s.thing USING btree (name, note)'],
    ],
    [
      'create unique index on s.thing (size)',
      ['adds the index CREATE UNIQUE INDEX ON s.thing USING btree (size)'],
    ],
    ['drop sequence s.numbers', ['drops the sequence numbers']],
    ['drop function s.next(integer)', ['drops the function next(place integer)']],
    ['alter function s.next(integer) security invoker', ['runs next(place integer) with fewer rights']],
    ['drop trigger touched on s.thing', ['drops the trigger touched of thing']],
    [
      'create trigger other before insert on s.thing for each row execute function s.touch()',
      ['adds the trigger other to thing'],
    ],
  ])('%s', async (statement, expected) => {
    expect(await changesBy(statement)).toEqual(expected);
  });

  it('that gives a function other arguments or another result', async () => {
    const create = (signature: string) => `create function s.next${signature} language sql as 'select 1'`;
    const drop = 'drop function s.next(integer)';
    expect(await changesBy(drop, create('(place text) returns bigint'))).toEqual([
      'drops the function next(place integer)',
    ]);
    expect(await changesBy(drop, create('(place integer) returns integer'))).toEqual([
      'changes the result of next(place integer) from bigint to integer',
    ]);
  });

  it('that replaces a trigger', async () => {
    const statement =
      'create trigger touched before delete on s.thing for each row execute function s.touch()';
    expect(await changesBy('drop trigger touched on s.thing', statement)).toEqual([
      'changes the trigger touched of thing',
    ]);
  });
});

describe('a change of a schema stops nothing', () => {
  it.each([
    ['create table s.other (id bigint primary key, name text not null unique)'],
    ['alter table s.thing add place text'],
    ['alter table s.thing add place integer not null default 0 check (place >= 0)'],
    ['alter table s.thing add place uuid unique'],
    ['alter table s.thing alter code type varchar(20)'],
    ['alter table s.thing alter code type text'],
    [`alter table s.thing alter state set default 'old'`],
    ['create index on s.thing (note)'],
    ['drop index s.thing_size_idx'],
    ['create function s.other() returns integer language sql as $$ select 1 $$'],
    [
      `create or replace function s.next(place integer) returns bigint language sql security definer as 'select 2::bigint'`,
    ],
  ])('%s', async (statement) => {
    expect(await changesBy(statement)).toEqual([]);
  });
});

describe('rights', () => {
  const before = {
    privileges: ['select', 'insert'],
    exceptions: { thing: ['select', 'insert', 'update'] },
  } as const;

  it('that are taken from a service are named, by table', () => {
    expect(revokedRights(['thing', 'other'], before, { privileges: ['select'] })).toEqual([
      'revokes insert on thing',
      'revokes update on thing',
      'revokes insert on other',
    ]);
  });

  it('are those of its exception alone, for a table that has one', () => {
    const after = { ...before, exceptions: { thing: ['select'] } } as const;
    expect(revokedRights(['thing', 'other'], before, after)).toEqual([
      'revokes insert on thing',
      'revokes update on thing',
    ]);
  });

  it('may be added and written in another way', () => {
    const after = { privileges: ['select', 'insert', 'update', 'delete'] } as const;
    expect(revokedRights(['thing', 'other'], before, after)).toEqual([]);
  });
});
