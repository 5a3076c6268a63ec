import type { Action, LaunchRequest } from '@clinical-launch/contracts';
import {
  type OutboxTables,
  outboxMigration,
  rejectedEventsMigration,
  type Storage,
} from '@clinical-launch/storage';
import { type ColumnType, type Generated, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Draft } from '../domain/draft.ts';
import type {
  Answer,
  Priority,
  RequestedBatch,
  RequestParties,
  RequestStatus,
} from '../domain/test-request.ts';
import { bindLocalPractices } from './migrations/local-practices.ts';
import { spellPatientsOnce } from './migrations/patient-spelling.ts';
import { addPracticeChoices, type PracticeChoiceTables } from './migrations/practice-choices.ts';
import { addRequestLists } from './migrations/request-lists.ts';

type Time = ColumnType<Date, string, string>;

export type OrderingTables = OutboxTables &
  PracticeChoiceTables & {
    drafts: {
      launch_id: string;
      /** What it is for: the request that it changes, or the launch itself when it is a new order. */
      target: string;
      submission_id: string;
      version: number;
      content: Omit<Draft, 'submissionId' | 'version'>;
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
      /** What identifies the practice (`practiceKeyOf`). */
      practice_key: string;
      /** SHA-256 of each of the patient's identifiers. */
      patient_keys: string[];
      status: RequestStatus;
      version: number;
      parties: RequestParties;
      clinical_details: string;
      priority: Priority;
      answers: Answer[];
      batches: RequestedBatch[];
      /** What it is found by in a list (`requestWords`). */
      words: string;
      created_at: Time;
      updated_at: Time;
    };
    list_searches: {
      launch_id: string;
      search: string;
      priority: Priority | null;
      updated_at: Time;
    };
    /** Which launch brought a request to which version: its order, and each amendment. */
    submissions: {
      id: string;
      request_guid: string;
      request_version: number;
      launch_id: string;
      action: Action;
      author: LaunchRequest['author'];
      submitted_at: Time;
    };
    /** What was printed of a request, by whom. */
    prints: {
      id: Generated<string>;
      request_guid: string;
      what: 'form' | 'labels';
      launch_id: string;
      author: LaunchRequest['author'];
      printed_at: Time;
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

const addSubmissions: Migration = {
  async up(db) {
    await sql`alter table ordering.drafts rename column order_guid to submission_id`.execute(db);
    await sql`alter table ordering.drafts add column target uuid`.execute(db);
    await sql`update ordering.drafts set target = launch_id`.execute(db);
    await sql`alter table ordering.drafts
      alter column target set not null,
      drop constraint drafts_pkey,
      add primary key (launch_id, target)`.execute(db);
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

const addPrints: Migration = {
  async up(db) {
    await sql`create table ordering.prints (
      id bigint generated always as identity primary key,
      request_guid uuid not null references ordering.test_requests (guid),
      what text not null check (what in ('form', 'labels')),
      launch_id uuid not null,
      author jsonb not null,
      printed_at timestamptz not null
    )`.execute(db);
    await sql`create index prints_request on ordering.prints (request_guid, what, id desc)`.execute(db);
  },
};

/** The migrations of the schema, in their order. */
export const orderingMigrations = {
  '001-outbox': outboxMigration('ordering'),
  '002-drafts-and-test-requests': createTables,
  '003-submissions': addSubmissions,
  '004-request-lists': addRequestLists,
  '005-prints': addPrints,
  '006-practice-choices': addPracticeChoices,
  '007-local-practices': bindLocalPractices,
  '008-rejected-events': rejectedEventsMigration('ordering'),
  '009-patient-spelling': spellPatientsOnce,
} satisfies Readonly<Record<string, Migration>>;

/** Opens the schema of this service at its newest migration. */
export function openOrderingDatabase(storage: Storage): Promise<OrderingDatabase> {
  return storage.open<OrderingTables>('ordering', orderingMigrations);
}

/** A value as the `jsonb` of a column. */
export const jsonb = <T>(value: T) => sql<T>`${JSON.stringify(value)}::jsonb`;
