import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Lets a user find the draft of a new order again in the next launch for the same patient. */
export const addDraftOwners: Migration = {
  async up(db) {
    await sql`alter table ordering.drafts add column owner_key char(64)`.execute(db);
    await sql`create index drafts_owner on ordering.drafts (owner_key, updated_at desc)
      where owner_key is not null`.execute(db);
  },
};
