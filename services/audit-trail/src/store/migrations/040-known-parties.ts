import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The users and practices that launched, to find the exact name of one whose caller says it approximately.
 * They are not audit events, and those of earlier launches are taken from the log.
 */
export const addKnownParties: Migration = {
  async up(db) {
    await sql`create table audit_trail.known_user (
      name text collate "C" not null,
      display text collate "C" not null,
      practice text collate "C" not null,
      practice_name text collate "C" not null,
      primary key (name, practice)
    )`.execute(db);
    await sql`insert into audit_trail.known_user (name, display, practice, practice_name)
      select distinct on (user_name, practice)
        left(user_name, 300), coalesce(left(user_display, 300), ''),
        coalesce(left(practice, 300), ''), coalesce(left(practice_name, 300), '')
      from audit_trail.audit_event where user_name is not null and type like '%.issued.v1'
      on conflict do nothing`.execute(db);
  },
};
