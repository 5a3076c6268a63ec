import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { completeDrafts } from './003-submissions.ts';
import { completeRequests } from './004-request-lists.ts';

/**
 * Brings databases that applied an earlier form of 003 and 004, which renamed `order_guid` and required
 * `words`, to the same schema as new ones. Does nothing elsewhere.
 */
export const serveEarlierProcesses: Migration = {
  async up(db) {
    await sql`do $$ begin
      if exists (select from information_schema.columns
        where table_schema = 'ordering' and table_name = 'drafts' and column_name = 'order_guid')
      then return; end if;
      alter table ordering.drafts rename constraint drafts_order_guid_key to drafts_submission_id_key;
      alter table ordering.drafts add column order_guid uuid;
      update ordering.drafts set order_guid = submission_id;
      alter table ordering.drafts alter column order_guid set not null, add unique (order_guid);
    end $$`.execute(db);
    await sql`alter table ordering.test_requests alter column words set default ''`.execute(db);
    await completeDrafts(db);
    await completeRequests(db);
  },
};
