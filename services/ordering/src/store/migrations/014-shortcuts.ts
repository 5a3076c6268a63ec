import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Favourites of users, and the tests that each practice requests most. */
export const addShortcuts: Migration = {
  async up(db) {
    await sql`create table ordering.personal_favourites (
      user_key char(64) not null,
      code text not null,
      added_at timestamptz not null,
      primary key (user_key, code)
    )`.execute(db);
    await sql`create table ordering.most_requested (
      practice_key char(64) primary key,
      codes text[] not null,
      counted_at timestamptz not null
    )`.execute(db);
  },
};
