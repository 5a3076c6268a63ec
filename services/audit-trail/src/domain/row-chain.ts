import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto';
import { type AuditColumns, userKeyOf } from './audit-row.ts';

/**
 * The hash chain of a partition. It proves that no row was changed, removed or inserted between other rows.
 * The hash of row n is SHA-256(hash of row n - 1, text of row n). The text of a row contains every column in
 * the order of `chainedColumns`, each as `<bytes in UTF-8>:<value>`, or as `-` if it is null. Two different
 * rows therefore never have the same text. The chain starts with the hash of the partition's name. Anyone who
 * can write rows can compute such hashes. Therefore each row also has a seal: an HMAC of its hash under a key
 * that the database does not have.
 */

export type AuditRow = AuditColumns & {
  /** Starts at 1 in each partition and has no gaps. */
  readonly sequence: number;
  /**
   * True if this event started a launch and was stored after other events of the launch. The rows of those
   * other events lack the launch's client, user and patient.
   */
  readonly isLate: boolean;
};

type Column = {
  readonly name: string;
  readonly type: 'bigint' | 'integer' | 'uuid' | 'timestamptz' | 'text' | 'text[]' | 'boolean';
  readonly textOf: (row: AuditRow) => string | null;
};

/**
 * The columns in the order of hashing. A new column must be last. It also changes the hashed text of existing
 * rows, so that their stored hashes no longer match.
 */
export const chainedColumns: readonly Column[] = [
  { name: 'sequence', type: 'bigint', textOf: (row) => String(row.sequence) },
  { name: 'id', type: 'uuid', textOf: (row) => row.id },
  // The database stores microseconds, but an event has milliseconds.
  { name: 'time', type: 'timestamptz', textOf: (row) => row.time.replace('Z', '000Z') },
  { name: 'correlation_id', type: 'uuid', textOf: (row) => row.correlationId },
  { name: 'launch_id', type: 'uuid', textOf: (row) => row.launchId },
  { name: 'trace_id', type: 'text', textOf: (row) => row.traceId },
  { name: 'source', type: 'text', textOf: (row) => row.source },
  { name: 'type', type: 'text', textOf: (row) => row.type },
  { name: 'outcome', type: 'text', textOf: (row) => row.outcome },
  { name: 'reason', type: 'text', textOf: (row) => row.reason },
  { name: 'status', type: 'integer', textOf: (row) => (row.status === null ? null : String(row.status)) },
  { name: 'issuer', type: 'text', textOf: (row) => row.issuer },
  { name: 'client_id', type: 'text', textOf: (row) => row.clientId },
  { name: 'user_name', type: 'text', textOf: (row) => row.userName },
  {
    name: 'user_key',
    type: 'text',
    textOf: (row) => (row.userName === null ? null : userKeyOf(row.userName)),
  },
  { name: 'user_display', type: 'text', textOf: (row) => row.userDisplay },
  { name: 'practice', type: 'text', textOf: (row) => row.practice },
  { name: 'practice_name', type: 'text', textOf: (row) => row.practiceName },
  { name: 'patient', type: 'text', textOf: (row) => row.patient },
  { name: 'address', type: 'text', textOf: (row) => row.address },
  { name: 'action', type: 'text', textOf: (row) => row.action },
  { name: 'order_guid', type: 'uuid', textOf: (row) => row.orderGuid },
  {
    name: 'order_references',
    type: 'text[]',
    textOf: (row) => (row.orderReferences === null ? null : JSON.stringify(row.orderReferences)),
  },
  { name: 'originating_id', type: 'text', textOf: (row) => row.originatingId },
  { name: 'is_late', type: 'boolean', textOf: (row) => String(row.isLate) },
  { name: 'event', type: 'text', textOf: (row) => row.event },
];

/** The end of a chain: the sequence number and hash of its last row. */
export type ChainEnd = { readonly sequence: number; readonly hash: Buffer };

/**
 * Returns the start of a partition's chain, which is also the end of the chain while the partition has no
 * rows.
 */
export const genesisOf = (partition: string): ChainEnd => ({
  sequence: 0,
  hash: hash('sha256', partition, 'buffer'),
});

/** Returns the hash of a row, given the hash of the previous row. */
export function hashOfRow(previous: Buffer, row: AuditRow): Buffer {
  const text = chainedColumns.map(({ textOf }) => measured(textOf(row))).join('');
  return hash('sha256', Buffer.concat([previous, Buffer.from(text)]), 'buffer');
}

const measured = (value: string | null) => (value === null ? '-' : `${Buffer.byteLength(value)}:${value}`);

/** Derives the key of the seals from the private key that signs the checkpoints. */
export const sealKeyOf = (privateKey: Uint8Array): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', privateKey, '', 'clinical-launch seals of audit rows', 32)));

/** Returns the seal of a row: 16 bytes. */
export const sealOf = (key: KeyObject, rowHash: Buffer): Buffer =>
  createHmac('sha256', key).update(rowHash).digest().subarray(0, 16);

/** Returns the name of the partition for a time. There is one partition for each month in UTC. */
export const partitionOf = (time: string): string => `audit_event_${time.slice(0, 7).replace('-', '_')}`;

/** Returns the start of a partition's month and the start of the next month. */
export function boundsOf(partition: string): { readonly from: string; readonly to: string } {
  const [, year = '', month = ''] = /^audit_event_(\d{4})_(\d{2})$/.exec(partition) ?? [];
  const first = new Date(Date.UTC(Number(year), Number(month) - 1, 1));
  const next = new Date(Date.UTC(Number(year), Number(month), 1));
  return { from: first.toISOString(), to: next.toISOString() };
}
