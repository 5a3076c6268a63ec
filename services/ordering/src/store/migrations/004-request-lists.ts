import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Indexes for the lists of requests: their order within practice and patient, and the searchable words. The
 * words of stored requests stay empty here, and those that processes from before this migration write: the
 * running service fills them (`work/keep-words-current.ts`).
 */
export const addRequestLists: Migration = {
  async up(db) {
    await sql`alter table ordering.test_requests add column words tsvector not null default ''`.execute(db);
    await completeRequests(db);
    // Every list consists of runs of one status and priority each, which the index has in order.
    await sql`drop index ordering.test_requests_practice`.execute(db);
    await sql`create index test_requests_practice on ordering.test_requests
      (practice_key, status, priority, created_at desc, guid desc)`.execute(db);
    // A patient has at most two identifiers (OLTR: Patient.identifier).
    for (const position of [1, 2]) {
      await sql`create index ${sql.id(`test_requests_patient_${position}`)} on ordering.test_requests
        ((patient_keys[${sql.lit(position)}]), status, priority, created_at desc, guid desc)`.execute(db);
    }
    // Without the pending list of the index, which every search would read.
    await sql`create index test_requests_words on ordering.test_requests using gin (words)
      with (fastupdate = off)`.execute(db);
    await sql`create table ordering.list_searches (
      launch_id uuid primary key,
      search text not null,
      priority text check (priority in ('routine', 'urgent')),
      updated_at timestamptz not null
    )`.execute(db);
    await sql`create index list_searches_updated_at on ordering.list_searches (updated_at)`.execute(db);
  },
};

/**
 * Adds the submission of a request that a process from before 003 writes, which knows neither submissions nor
 * words. A process from after it always writes words.
 */
export async function completeRequests(db: Kysely<unknown>): Promise<void> {
  await sql`create or replace function ordering.complete_request() returns trigger language plpgsql as $$
    begin
      insert into ordering.submissions
        (id, request_guid, request_version, launch_id, action, author, submitted_at)
      values (new.guid, new.guid, 1, new.launch_id, 'OrderTest', new.parties -> 'author', new.created_at);
      return null;
    end $$`.execute(db);
  await sql`drop trigger if exists complete_requests on ordering.test_requests`.execute(db);
  await sql`create trigger complete_requests after insert on ordering.test_requests
    for each row when (new.words = '') execute function ordering.complete_request()`.execute(db);
}
