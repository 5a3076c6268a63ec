import type { LaunchRequest } from '@clinical-launch/contracts';
import { type ColumnType, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

type Author = LaunchRequest['author'];

type AddedBy = {
  added_by: ColumnType<Author, Author, never>;
  added_at: ColumnType<Date, string, never>;
};

/** What a practice keeps for the page that chooses tests. */
export type PracticeChoiceTables = {
  favourites: AddedBy & { practice_key: string; code: string };
  practice_sets: AddedBy & { id: string; practice_key: string; name: string; tests: string[] };
};

/** Favourites and order sets of practices. */
export const addPracticeChoices: Migration = {
  async up(db) {
    await sql`create table ordering.favourites (
      practice_key char(64) not null,
      code text not null,
      added_by jsonb not null,
      added_at timestamptz not null,
      primary key (practice_key, code)
    )`.execute(db);
    await sql`create table ordering.practice_sets (
      id uuid primary key,
      practice_key char(64) not null,
      name text not null,
      tests text[] not null,
      added_by jsonb not null,
      added_at timestamptz not null
    )`.execute(db);
    await sql`create unique index practice_sets_name on ordering.practice_sets (practice_key, name)`.execute(
      db,
    );
  },
};
