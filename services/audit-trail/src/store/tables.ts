import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { Storage } from '@clinical-launch/storage/storage';
import { type Kysely, sql } from 'kysely';
import type { StoredWith } from '../domain/columns.ts';
import type { OriginatingIdTables } from './originating-ids.ts';

/** The tables of the log. Timestamps are written as text, and the drivers return dates. */
type LogTables = {
  audit_event: StoredWith<unknown> & { hash: Uint8Array; seal: Uint8Array };
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

/** Creates the partition of a month. A function of the schema's owner creates it. */
export async function ensurePartition(database: AuditDatabase, partition: string): Promise<void> {
  await sql`select audit_trail.ensure_partition(${partition})`.execute(database);
}

/** Drops the partition of a month. Its end must be signed first, unless it is empty. */
export async function dropPartition(database: AuditDatabase, partition: string): Promise<void> {
  await sql`select audit_trail.drop_partition(${partition})`.execute(database);
}

/** Opens the schema of the audit trail. */
export function openSchema(storage: Storage): Promise<AuditDatabase> {
  return storage.open<AuditTables>(schema, migrations);
}
