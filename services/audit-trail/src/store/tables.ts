import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { Storage } from '@clinical-launch/storage/storage';
import type { Kysely } from 'kysely';
import type { OriginatingIdTables } from './originating-ids.ts';

/** The tables of the log. Timestamps are written as text, and the drivers return dates. */
type LogTables = {
  audit_event: {
    /** Starts at 1 in each partition and has no gaps. */
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

export type AuditTables = LogTables & OriginatingIdTables;

export type AuditDatabase = Kysely<AuditTables>;

const schema = 'audit_trail';

export const migrations = readMigrations(new URL('migrations/', import.meta.url));

/** Opens the schema of the audit trail. */
export function openSchema(storage: Storage): Promise<AuditDatabase> {
  return storage.open<AuditTables>(schema, migrations);
}
