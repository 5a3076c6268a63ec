import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { type AuditFault, maxFaults } from '../domain/audit-fault.ts';
import type { AuditKeys } from '../domain/checkpoint.ts';
import { type ChainEnd, sealOf } from '../domain/row-chain.ts';
import type { BrokenRow, ChainReader, ChainSlice } from '../store/chain-reader.ts';

/** The number of rows that one statement compares. A statement takes about a tenth of a second. */
const sliceSize = 20_000;

type RowsOptions = {
  readonly chain: ChainReader;
  readonly keys: Pick<AuditKeys, 'seals'>;
  readonly signal?: AbortSignal | undefined;
  readonly partition: string;
  readonly from: ChainEnd;
  readonly last: number;
};

/** Compares the rows of a partition after `from` and up to `last` with their hashes and seals. */
export async function verifyRows({
  chain,
  keys,
  signal,
  partition,
  from,
  last,
}: RowsOptions): Promise<{ rows: number; faults: AuditFault[] }> {
  const faults: AuditFault[] = [];
  let rows = 0;
  const sliceAfter = (start: ChainEnd) =>
    chain.slice(partition, start, Math.max(0, Math.min(sliceSize, last - start.sequence)));
  for (let slice = await sliceAfter(from); slice.rows > 0; ) {
    signal?.throwIfAborted();
    rows += slice.rows;
    // While the database hashes the next rows, this process checks the seals of the current rows.
    const [next, found] = await Promise.all([
      sliceAfter(slice.end),
      faultsOf(chain, { partition, slice, seals: keys.seals }),
    ]);
    faults.push(...found);
    slice = next;
  }
  return { rows, faults: faults.slice(0, maxFaults) };
}

async function faultsOf(
  chain: ChainReader,
  { partition, slice, seals }: { partition: string; slice: ChainSlice; seals: readonly KeyObject[] },
): Promise<AuditFault[]> {
  const broken = slice.broken.slice(0, maxFaults);
  const unsealed = unsealedIn(slice, seals);
  // If a row or the previous row is forged, the fault is already reported, and the row's hash need not match.
  const changed = broken.filter(
    ({ sequence, previous }) =>
      sequence === previous + 1 && !unsealed.has(previous) && !unsealed.has(sequence),
  );
  const forged = [...unsealed].slice(0, maxFaults);
  const kinds = new Map<number, AuditFault['kind']>([
    ...changed.map(({ sequence }) => [sequence, 'changed'] as const),
    ...forged.map((sequence) => [sequence, 'forged'] as const),
  ]);
  const rows = kinds.size === 0 ? [] : [...(await chain.rowsAt(partition, [...kinds.keys()]))];
  return [
    ...broken.filter(({ sequence, previous }) => sequence !== previous + 1).map(removedFrom(partition)),
    ...rows.map(([sequence, { id, time }]) => {
      const kind = kinds.get(sequence) ?? 'changed';
      return { kind, partition, sequence, id, time };
    }),
  ].toSorted((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0));
}

const [hashLength, sealLength, numberLength] = [32, 16, 8];

/** Returns the numbers of the rows whose seal does not match their hash. Without keys, returns none. */
function unsealedIn({ seals }: ChainSlice, keys: readonly KeyObject[]): Set<number> {
  const found = new Set<number>();
  if (keys.length === 0) return found;
  for (let at = 0; at < seals.length; at += hashLength + sealLength + numberLength) {
    const rowHash = seals.subarray(at, at + hashLength);
    const seal = seals.subarray(at + hashLength, at + hashLength + sealLength);
    if (keys.some((key) => timingSafeEqual(sealOf(key, rowHash), seal))) continue;
    found.add(Number(seals.readBigInt64BE(at + hashLength + sealLength)));
  }
  return found;
}

/** Creates the function that returns the fault of the rows that are missing before a row. */
export const removedFrom =
  (partition: string) =>
  ({ previous, sequence }: BrokenRow): AuditFault => ({
    kind: 'removed',
    partition,
    firstSequence: previous + 1,
    sequence: sequence - 1,
  });
