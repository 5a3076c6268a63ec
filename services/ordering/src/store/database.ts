import { type OutboxTables, outboxMigration, type Storage } from '@clinical-launch/storage';
import { type ColumnType, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Draft } from '../domain/draft.ts';
import type { RequestedBatch, RequestParties, RequestStatus } from '../domain/test-request.ts';

type Time = ColumnType<Date, string, string>;

export type OrderingTables = OutboxTables & {
  drafts: {
    launch_id: string;
    order_guid: string;
    version: number;
    content: Omit<Draft, 'orderGuid' | 'version'>;
    updated_at: Time;
  };
  test_requests: {
    guid: string;
    launch_id: string;
    issuer: string;
    client_id: string;
    originating_id: string;
    /** SHA-256 of issuer, client and originating id: what a caller names may be too long for an index. */
    originating_key: string;
    practice_system: string;
    practice_code: string;
    /** SHA-256 of the practice's code set and code. */
    practice_key: string;
    /** SHA-256 of each of the patient's identifiers. */
    patient_keys: string[];
    status: RequestStatus;
    version: number;
    parties: RequestParties;
    clinical_details: string;
    batches: RequestedBatch[];
    created_at: Time;
    updated_at: Time;
  };
};

export type OrderingDatabase = Kysely<OrderingTables>;

const createTables: Migration = {
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
    // The lists to come: a practice's requests by status, newest first; a patient's; the one a PMS names.
    await sql`create index test_requests_practice
      on ordering.test_requests (practice_key, status, created_at desc)`.execute(db);
    await sql`create index test_requests_patient on ordering.test_requests using gin (patient_keys)`.execute(
      db,
    );
    await sql`create index test_requests_originating
      on ordering.test_requests (originating_key)`.execute(db);
  },
};

/** Opens the schema of this service at its newest migration. */
export function openOrderingDatabase(storage: Storage): Promise<OrderingDatabase> {
  return storage.open<OrderingTables>('ordering', {
    '001-outbox': outboxMigration('ordering'),
    '002-drafts-and-test-requests': createTables,
  });
}

/** A value as the `jsonb` of a column. */
export const jsonb = <T>(value: T) => sql<T>`${JSON.stringify(value)}::jsonb`;
