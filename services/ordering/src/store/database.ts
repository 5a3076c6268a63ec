import type { Action, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { OutboxTables } from '@clinical-launch/storage/sql-outbox';
import type { Storage } from '@clinical-launch/storage/storage';
import { type ColumnType, type Generated, type Kysely, sql, type Transaction } from 'kysely';
import type { WindowSubject } from '../domain/chosen-window.ts';
import type { Draft } from '../domain/draft.ts';
import type { ListFilters } from '../domain/list-search.ts';
import type {
  Answer,
  Priority,
  RequestedBatch,
  RequestParties,
  RequestStatus,
} from '../domain/test-request.ts';

type Time = ColumnType<Date, string, string>;

type AddedBy = {
  added_by: ColumnType<LaunchRequest['author'], LaunchRequest['author'], never>;
  added_at: ColumnType<Date, string, never>;
};

type WindowTables = {
  browsers: {
    /** The SHA-256 of the browser's cookie. */
    key: string;
    token: string;
    subject_key: string;
    user_key: string;
    launch_id: string;
    who: WindowSubject['who'];
    chosen_at: Time;
  };
  opened_launches: { launch_id: string; opened_at: Time };
};

type OwnChoiceTables = {
  favourites: AddedBy & { practice_key: string; code: string };
  practice_sets: AddedBy & { id: string; practice_key: string; name: string; tests: string[] };
  /** `user_key` is the key of the user (`userKeyOf`). */
  personal_favourites: { user_key: string; code: string; added_at: ColumnType<Date, string, never> };
  /** The codes that a practice requests most, most requested first. */
  most_requested: { practice_key: string; codes: string[]; counted_at: Time };
};

export type OrderingTables = OutboxTables &
  OwnChoiceTables &
  WindowTables & {
    drafts: {
      launch_id: string;
      /** The GUID of the request that the draft changes, or the launch id of a new order. */
      target: string;
      /**
       * The key of the user and patient whose next launch may find the draft (`draftOwnerKeyOf`), or null.
       */
      owner_key: string | null;
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
      /**
       * SHA-256 of issuer, client and originating id, because an originating id may be too long for an index.
       */
      originating_key: string;
      practice_system: string;
      practice_code: string;
      /** The key of the practice (`practiceKeyOf`). */
      practice_key: string;
      /** The SHA-256 of each identifier of the patient (`patientKeysOf`). */
      patient_keys: string[];
      status: RequestStatus;
      version: number;
      parties: RequestParties;
      clinical_details: string;
      priority: Priority;
      answers: Answer[];
      batches: RequestedBatch[];
      /** The words by which a search in a list finds the request (`requestWords`). */
      words: string;
      created_at: Time;
      updated_at: Time;
    };
    list_searches: {
      launch_id: string;
      search: string;
      priority: Priority | null;
      filters: ListFilters;
      updated_at: Time;
    };
    /** The submission of each version of a request: the order, and each amendment. */
    submissions: {
      id: string;
      request_guid: string;
      request_version: number;
      launch_id: string;
      action: Action;
      author: LaunchRequest['author'];
      submitted_at: Time;
      reason: string | null;
    };
    /** The dates of birth with which a user confirmed the patient of a request. */
    confirmed_patients: {
      request_guid: string;
      /** YYYY-MM-DD */
      birth_date: string;
      launch_id: string;
      author: LaunchRequest['author'];
      confirmed_at: Time;
    };
    /** The prints of the form and the labels of a request, each with its user. */
    prints: {
      id: Generated<string>;
      request_guid: string;
      what: 'form' | 'labels';
      launch_id: string;
      author: LaunchRequest['author'];
      printed_at: Time;
    };
  };

/** The database of this service. A transaction is also an `OrderingDatabase`. */
export type OrderingDatabase = Kysely<OrderingTables>;

export type OrderingTransaction = Transaction<OrderingTables>;

export const migrations = readMigrations(new URL('migrations/', import.meta.url));

/** Migrates the schema of this service to the newest migration, and returns the database. */
export function openOrderingDatabase(storage: Storage): Promise<OrderingDatabase> {
  return storage.open<OrderingTables>('ordering', migrations);
}

/** Returns a value for a column of type `jsonb`. */
export const jsonb = <T>(value: T) => sql<T>`${JSON.stringify(value)}::jsonb`;
