import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The history of each request, drafts of changes, priority and answers. */
export const addSubmissions: Migration = {
  async up(db) {
    await sql`alter table ordering.drafts add column submission_id uuid, add column target uuid`.execute(db);
    await sql`update ordering.drafts set submission_id = order_guid, target = launch_id`.execute(db);
    await sql`alter table ordering.drafts
      alter column submission_id set not null,
      add unique (submission_id),
      alter column target set not null,
      drop constraint drafts_pkey,
      add primary key (launch_id, target)`.execute(db);
    await completeDrafts(db);
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

/**
 * Lets processes from before this migration, which know `order_guid` and neither `submission_id` nor
 * `target`, and processes from after it read each other's drafts.
 */
export async function completeDrafts(db: Kysely<unknown>): Promise<void> {
  await sql`create or replace function ordering.complete_draft() returns trigger language plpgsql as $$
    begin
      new.submission_id := coalesce(new.submission_id, new.order_guid);
      new.order_guid := new.submission_id;
      new.target := coalesce(new.target, new.launch_id);
      return new;
    end $$`.execute(db);
  await sql`drop trigger if exists complete_drafts on ordering.drafts`.execute(db);
  await sql`create trigger complete_drafts before insert or update on ordering.drafts
    for each row execute function ordering.complete_draft()`.execute(db);
}
