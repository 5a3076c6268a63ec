import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Stores the filters of a list with its search, and indexes who requests in a practice. An older process
 * stores searches without filters and leaves those of the launch as they are.
 */
export const addListFilters: Migration = {
  async up(db) {
    await sql`alter table ordering.list_searches add column filters jsonb not null default '{}'`.execute(db);
    await sql`create index test_requests_requester on ordering.test_requests
      (practice_key, (parties -> 'requester' -> 'identifier'), created_at desc)`.execute(db);
  },
};
