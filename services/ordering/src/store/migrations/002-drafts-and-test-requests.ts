import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Drafts of orders, and the requests that were submitted. */
export const createTables: Migration = {
  async up(db) {
    await sql`create table ordering.drafts (
      launch_id uuid primary key,
      order_guid uuid not null unique,
      version integer not null,
      content jsonb not null,
      updated_at timestamptz not null
    )`.execute(db);
    await sql`create index drafts_updated_at on ordering.drafts (updated_at)`.execute(db);
    await sql`create sequence ordering.batch_numbers`.execute(db);
    await sql`create table ordering.test_requests (
      guid uuid primary key,
      launch_id uuid not null unique,
      issuer text not null,
      client_id text not null,
      originating_id text not null,
      originating_key char(64) not null,
      practice_system text not null,
      practice_code text not null,
      practice_key char(64) not null,
      patient_keys text[] not null,
      status text not null check (status in ('Incomplete', 'Complete')),
      version integer not null,
      parties jsonb not null,
      clinical_details text not null,
      batches jsonb not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
    // The later lists: a practice's requests by status, newest first; a patient's; the one that a PMS names.
    await sql`create index test_requests_practice
      on ordering.test_requests (practice_key, status, created_at desc)`.execute(db);
    await sql`create index test_requests_patient on ordering.test_requests using gin (patient_keys)`.execute(
      db,
    );
    await sql`create index test_requests_originating
      on ordering.test_requests (originating_key)`.execute(db);
  },
};
