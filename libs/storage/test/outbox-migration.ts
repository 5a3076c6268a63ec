import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Returns a migration that creates the outbox of the services (`001-release-1.sql`). */
export const outboxMigration = (schema: string): Migration => ({
  async up(db) {
    await sql`create table ${sql.id(schema)}.outbox (
      id bigint generated always as identity primary key,
      event jsonb not null,
      created_at timestamptz not null default clock_timestamp(),
      rejected_at timestamptz
    )`.execute(db);
  },
});
