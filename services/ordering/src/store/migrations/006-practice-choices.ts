import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

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
