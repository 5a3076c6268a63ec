import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Records which version of the search words each request was indexed by. The default of 0 means "older than
 * any version": it also marks the rows that a process of the previous release writes during a rolling
 * upgrade.
 */
export const addWordsVersion: Migration = {
  async up(db) {
    await sql`alter table ordering.test_requests
      add column if not exists words_version integer not null default 0`.execute(db);
    await sql`create index if not exists test_requests_words_version
      on ordering.test_requests (words_version)`.execute(db);
  },
};
