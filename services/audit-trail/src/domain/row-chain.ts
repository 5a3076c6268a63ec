import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto';
import type { AuditRow } from './audit-row.ts';
import { type ColumnName, columnNames, columns } from './columns.ts';

/**
 * The hash chain of a partition. It proves that no row was changed, removed or inserted between other rows.
 * The hash of row n is SHA-256(hash of row n - 1, text of row n). The text of a row contains every column in
 * the order of `columns`, each as `<bytes in UTF-8>:<value>`, or as `-` if it is null. Two different
 * rows therefore never have the same text. The chain starts with the hash of the partition's name. Anyone who
 * can write rows can compute such hashes. Therefore each row also has a seal: an HMAC of its hash under a key
 * that the database does not have.
 */

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
  const text = columnNames.map((name) => measured(textOf(row, name))).join('');
  return hash('sha256', Buffer.concat([previous, Buffer.from(text)]), 'buffer');
}

/** Returns the text of a column for the hash. Null stays null. */
export function textOf(row: AuditRow, name: ColumnName): string | null {
  const value = row[name];
  if (value === null) return null;
  // The database stores microseconds, but an event has milliseconds.
  if (columns[name].type === 'timestamptz') return String(value).replace('Z', '000Z');
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
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
