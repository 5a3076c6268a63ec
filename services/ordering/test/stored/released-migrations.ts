import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addSubmissions } from '../../src/store/migrations/003-submissions.ts';
import { addRequestLists } from '../../src/store/migrations/004-request-lists.ts';

/**
 * `003-submissions` and `004-request-lists` with the result that they had in their release, before they
 * served older processes: `order_guid` was renamed, and `words` were required.
 */
export const releasedMigrations: Readonly<Record<string, Migration>> = {
  '003-submissions': {
    async up(db) {
      await addSubmissions.up(db);
      await sql`drop function ordering.complete_draft cascade`.execute(db);
      await sql`alter table ordering.drafts drop column order_guid`.execute(db);
      await sql`alter table ordering.drafts
        rename constraint drafts_submission_id_key to drafts_order_guid_key`.execute(db);
    },
  },
  '004-request-lists': {
    async up(db) {
      await addRequestLists.up(db);
      await sql`drop function ordering.complete_request cascade`.execute(db);
      await sql`alter table ordering.test_requests alter column words drop default`.execute(db);
    },
  },
};
