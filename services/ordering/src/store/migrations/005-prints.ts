import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Who printed which paper, and when. */
export const addPrints: Migration = {
  async up(db) {
    await sql`create table ordering.prints (
      id bigint generated always as identity primary key,
      request_guid uuid not null references ordering.test_requests (guid),
      what text not null check (what in ('form', 'labels')),
      launch_id uuid not null,
      author jsonb not null,
      printed_at timestamptz not null
    )`.execute(db);
    await sql`create index prints_request on ordering.prints (request_guid, what, id desc)`.execute(db);
  },
};
