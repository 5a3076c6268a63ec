import { sql } from 'kysely';
import { boundsOf } from '../domain/row-chain.ts';
import type { AuditDatabase, AuditTables } from './tables.ts';

/** The columns that leave the platform. They describe no patient, and no content of an order. */
const exported = [
  'sequence',
  'id',
  'time',
  'correlation_id',
  'launch_id',
  'trace_id',
  'source',
  'type',
  'outcome',
  'reason',
  'status',
  'issuer',
  'client_id',
  'user_name',
  'practice',
  'address',
  'action',
] as const satisfies readonly (keyof AuditTables['audit_event'])[];

export type ExportedRow = Pick<AuditTables['audit_event'], (typeof exported)[number]>;

/** Returns up to `limit` rows of a partition that follow a sequence number, in the order of the chain. */
export type ReadExportedRows = (
  partition: string,
  after: number,
  limit: number,
) => Promise<readonly ExportedRow[]>;

/** Creates the reader of the rows to export. */
export const createExportedRows =
  (database: AuditDatabase): ReadExportedRows =>
  (partition, after, limit) => {
    const { from, to } = boundsOf(partition);
    return database
      .selectFrom('audit_event')
      .select(exported)
      .where('time', '>=', sql<Date>`${from}::timestamptz`)
      .where('time', '<', sql<Date>`${to}::timestamptz`)
      .where('sequence', '>', String(after))
      .orderBy('sequence')
      .limit(limit)
      .execute();
  };
