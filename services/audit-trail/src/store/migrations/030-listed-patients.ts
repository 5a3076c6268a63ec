import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Indexes the patients of lists of requests, which only the event itself has: a page shows many patients. */
export const addListedPatients: Migration = {
  async up(db) {
    await sql`create index on audit_trail.audit_event
      using gin ((event::jsonb -> 'data' -> 'patients') jsonb_path_ops) with (fastupdate = off)
      where type = 'orders.listed.v1'`.execute(db);
  },
};
