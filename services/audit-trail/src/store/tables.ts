import type { CloudEvent } from '@clinical-launch/contracts';
import type { ServiceMigrations, Storage } from '@clinical-launch/storage';
import { type Generated, type Kysely, sql } from 'kysely';
import { addAuditEvents } from './migrations/020-audit-events.ts';
import { addListedPatients } from './migrations/030-listed-patients.ts';
import { addKnownParties } from './migrations/040-known-parties.ts';
import { addOriginatingIds, type OriginatingIdTables } from './originating-ids.ts';

/** Timestamps are written as text and returned by the drivers as dates. */
type LogTables = {
  audit_event: {
    /** From 1 in each partition, without gaps. */
    sequence: string;
    id: string;
    time: Date;
    correlation_id: string;
    launch_id: string | null;
    trace_id: string;
    source: string;
    type: string;
    outcome: string;
    reason: string | null;
    status: number | null;
    issuer: string | null;
    client_id: string | null;
    user_name: string | null;
    user_key: string | null;
    user_display: string | null;
    practice: string | null;
    practice_name: string | null;
    patient: string | null;
    address: string | null;
    action: string | null;
    order_guid: string | null;
    order_references: string[] | null;
    originating_id: string | null;
    is_late: boolean;
    event: string;
    hash: Uint8Array;
    seal: Uint8Array;
  };
  checkpoint: {
    number: string;
    partition: string;
    sequence: string;
    kind: string;
    signed_at: Date;
    jws: string;
  };
  known_user: { name: string; display: string; practice: string; practice_name: string };
  launching_client: { issuer: string; client_id: string };
  progress: { name: string; place: string; at: Date };
};

export type AuditTables = {
  /** The events of releases before the hash chain; they are copied to `audit_event`. */
  event: {
    /** Order of arrival. */
    sequence: Generated<string>;
    id: string;
    correlation_id: string;
    type: string;
    event: CloudEvent;
  };
} & LogTables &
  OriginatingIdTables;

export type AuditDatabase = Kysely<AuditTables>;

const schema = 'audit_trail';

/** The migrations of the schema, in order. Each is frozen SQL, independent of later changes of our code. */
export const migrations: ServiceMigrations = {
  '001-events': {
    async up(db) {
      await sql`create table ${sql.id(schema)}.event (
        sequence bigint generated always as identity primary key,
        id uuid not null unique,
        correlation_id uuid not null,
        type text not null,
        event jsonb not null
      )`.execute(db);
      await sql`create index event_by_correlation on ${sql.id(schema)}.event (correlation_id, sequence)`.execute(
        db,
      );
    },
  },
  '010-originating-ids': addOriginatingIds(schema),
  '020-audit-events': addAuditEvents,
  '030-listed-patients': addListedPatients,
  '040-known-parties': addKnownParties,
};

/** Opens the audit trail's own schema. */
export function openSchema(storage: Storage): Promise<AuditDatabase> {
  return storage.open<AuditTables>(schema, migrations);
}
