import type { AuditFault } from '../domain/audit-fault.ts';
import type { AuditKeys } from '../domain/checkpoint.ts';
import type { ChainEnd } from '../domain/row-chain.ts';
import type { ChainReader, Period } from '../store/chain-reader.ts';
import type { Checkpoints, NumberRange } from '../store/checkpoints.ts';
import { type CheckpointPosition, verifyCheckpoints } from './verify-checkpoints.ts';
import { removedFrom, verifyRows } from './verify-rows.ts';

export type Verification = {
  readonly rows: number;
  readonly checkpoints: number;
  readonly faults: readonly AuditFault[];
};

/** A position up to which the log was verified. */
export type VerifiedPosition = {
  readonly ends: ReadonlyMap<string, ChainEnd>;
  /** The last checkpoint and its hash, which the next checkpoint contains. */
  readonly checkpoint: CheckpointPosition;
};

export type VerifyOptions = {
  readonly chain: ChainReader;
  readonly checkpoints: Checkpoints;
  readonly keys: Pick<AuditKeys, 'verification' | 'seals'>;
  readonly period?: Period;
  /** Limits the verification to rows after this position. */
  readonly since?: VerifiedPosition;
  readonly external?: readonly string[];
  /** Called before the rows of each partition are compared. */
  readonly onPartition?: (partition: string) => void;
  readonly signal?: AbortSignal;
};

/**
 * Compares the log with its hashes, seals and checkpoints. If a row has no fault, the audit trail wrote it
 * and nobody changed it later. If a period has no fault, no row up to its last checkpoint is missing.
 */
export async function verifyAudit(options: VerifyOptions): Promise<Verification> {
  const { chain, keys, signal, period, since } = options;
  const faults: AuditFault[] = [];
  const ranges = new Map<string, NumberRange>();
  let rows = 0;
  for (const partition of await chain.partitions()) {
    const range = period === undefined ? allRows : await chain.range(partition, period);
    const verifiedEnd = since?.ends.get(partition);
    // Includes the last row of the previous verification, because the row's checkpoint may have been signed
    // after that verification.
    const first = verifiedEnd?.sequence ?? range?.first ?? 0;
    ranges.set(partition, { first, last: range?.last ?? 0 });
    if (range === undefined) continue;
    options.onPartition?.(partition);
    const from = verifiedEnd ?? (await chain.endOf(partition, range.first));
    const verified = await verifyRows({ chain, keys, signal, partition, from, last: range.last });
    rows += verified.rows;
    faults.push(...verified.faults);
    if (period !== undefined) faults.push(...(await chain.gaps(partition)).map(removedFrom(partition)));
  }
  const isPeriod = period !== undefined;
  const signed = await verifyCheckpoints({ ...options, ranges, isPeriod, since: since?.checkpoint });
  return { rows, checkpoints: signed.checkpoints, faults: distinct([...faults, ...signed.faults]) };
}

const allRows: NumberRange = { first: 1, last: Number.MAX_SAFE_INTEGER };

const distinct = (faults: readonly AuditFault[]) => [
  ...new Map(
    faults.map((fault) => [
      JSON.stringify([fault.kind, fault.partition, fault.sequence, fault.checkpoint]),
      fault,
    ]),
  ).values(),
];
