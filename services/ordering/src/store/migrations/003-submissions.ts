import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The history of each request, drafts of changes, priority and answers. */
export const addSubmissions: Migration = {
  async up(db) {
    await sql`alter table ordering.drafts rename column order_guid to submission_id`.execute(db);
    await sql`alter table ordering.drafts add column target uuid`.execute(db);
    await sql`update ordering.drafts set target = launch_id`.execute(db);
    await sql`alter table ordering.drafts
      alter column target set not null,
      drop constraint drafts_pkey,
      add primary key (launch_id, target)`.execute(db);
    await sql`alter table ordering.test_requests
      add column priority text not null default 'routine' check (priority in ('routine', 'urgent')),
      add column answers jsonb not null default '[]'`.execute(db);
    await sql`create table ordering.submissions (
      id uuid primary key,
      request_guid uuid not null references ordering.test_requests (guid),
      request_version integer not null,
      launch_id uuid not null,
      action text not null,
      author jsonb not null,
      submitted_at timestamptz not null,
      unique (request_guid, request_version)
    )`.execute(db);
    await sql`create index submissions_launch on ordering.submissions (launch_id)`.execute(db);
    await sql`insert into ordering.submissions
      select guid, guid, 1, launch_id, 'OrderTest', parties -> 'author', created_at
      from ordering.test_requests`.execute(db);
  },
};
