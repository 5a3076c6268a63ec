import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { type AuditFault, maxFaults } from '../domain/audit-fault.ts';
import type { AuditKeys } from '../domain/checkpoint.ts';
import { type ChainEnd, sealOf } from '../domain/row-chain.ts';
import type { ChainReader, ChainSlice } from '../store/chain-reader.ts';

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
}: RowsOptions): Promise<{ rows: number; end: ChainEnd; faults: AuditFault[] }> {
  const faults: AuditFault[] = [];
  let end = from;
  let rows = 0;
  const sliceAfter = (start: ChainEnd) =>
    chain.slice(partition, start, Math.max(0, Math.min(sliceSize, last - start.sequence)));
  for (let slice = await sliceAfter(from); slice.rows > 0; ) {
    signal?.throwIfAborted();
    rows += slice.rows;
    end = slice.end;
    // While the database hashes the next rows, this process checks the seals of the current rows.
    const [next, found] = await Promise.all([
      sliceAfter(end),
      faultsOf(chain, { partition, slice, seals: keys.seals }),
    ]);
    faults.push(...found);
    slice = next;
  }
  return { rows, end, faults: faults.slice(0, maxFaults) };
}

type SliceFaults = {
  readonly partition: string;
  readonly slice: ChainSlice;
  readonly seals: readonly KeyObject[];
};

async function faultsOf(chain: ChainReader, { partition, slice, seals }: SliceFaults): Promise<AuditFault[]> {
  const unsealed = seals.length === 0 ? new Set<number>() : unsealedIn(slice, seals);
  const broken = slice.broken.slice(0, maxFaults).flatMap((row): AuditFault[] => {
    const { sequence, id, time, previous } = row;
    if (sequence !== previous + 1) return [removedBefore(partition, row)];
    // If this row or the previous row is forged, the fault is already reported, and this row's hash need not
    // match.
    if (unsealed.has(previous) || unsealed.has(sequence)) return [];
    return [{ kind: 'changed', partition, sequence, id, time }];
  });
  const forged = [...unsealed].slice(0, maxFaults).map(async (sequence): Promise<AuditFault> => {
    return { kind: 'forged', partition, sequence, ...(await chain.rowAt(partition, sequence)) };
  });
  return [...broken, ...(await Promise.all(forged))].toSorted(
    (one, other) => (one.sequence ?? 0) - (other.sequence ?? 0),
  );
}

const [hashLength, sealLength] = [32, 16];

/** Returns the numbers of the rows whose seal does not match their hash. */
function unsealedIn({ rows, seals, end, broken }: ChainSlice, keys: readonly KeyObject[]): Set<number> {
  const found = new Set<number>();
  const numberOf = numberedFrom({ rows, end, broken });
  for (let at = 0; at < rows; at += 1) {
    const start = at * (hashLength + sealLength);
    const rowHash = seals.subarray(start, start + hashLength);
    const seal = seals.subarray(start + hashLength, start + hashLength + sealLength);
    if (!keys.some((key) => timingSafeEqual(sealOf(key, rowHash), seal))) found.add(numberOf(at));
  }
  return found;
}

/**
 * Creates a function that converts a position in a slice to the sequence number of the row. Sequence numbers
 * have gaps only before broken rows.
 */
function numberedFrom({ rows, end, broken }: Pick<ChainSlice, 'rows' | 'end' | 'broken'>) {
  const gaps = broken.filter(({ sequence, previous }) => sequence !== previous + 1);
  const missing = gaps.reduce((sum, { sequence, previous }) => sum + sequence - previous - 1, 0);
  const first = end.sequence - missing - rows + 1;
  return (at: number) => {
    let number = first + at;
    for (const { sequence, previous } of gaps) {
      if (number > previous) number += sequence - previous - 1;
    }
    return number;
  };
}

/** Returns a fault for each gap in the sequence numbers of a partition. */
export async function gapsOf(chain: ChainReader, partition: string): Promise<AuditFault[]> {
  const gaps = await chain.gaps(partition);
  return gaps.map((row) => removedBefore(partition, row));
}

const removedBefore = (
  partition: string,
  { previous, sequence }: { readonly previous: number; readonly sequence: number },
): AuditFault => ({ kind: 'removed', partition, firstSequence: previous + 1, sequence: sequence - 1 });
