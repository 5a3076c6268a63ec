import { type AuditFault, maxFaults } from '../domain/audit-fault.ts';
import { type AuditKeys, nameOf, readCheckpoint, type SignedCheckpoint } from '../domain/checkpoint.ts';
import type { ChainReader } from '../store/chain-reader.ts';
import type { Checkpoints, NumberRange, StoredCheckpoint } from '../store/checkpoints.ts';

/** The last checkpoint of a verification: its number, and its hash, which the next checkpoint contains. */
export type CheckpointPosition = { readonly number: number; readonly name: string };

type CheckpointOptions = {
  readonly chain: ChainReader;
  readonly checkpoints: Checkpoints;
  readonly keys: Pick<AuditKeys, 'verification'>;
  /** The verified rows of each existing partition. */
  readonly ranges: ReadonlyMap<string, NumberRange>;
  /** Whether to read only the checkpoints of `ranges`, instead of all checkpoints after `since`. */
  readonly isPeriod: boolean;
  readonly since?: CheckpointPosition | undefined;
  readonly external?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Verifies the checkpoints of the verified rows, the last checkpoint of each partition and the external
 * copies, and compares the log with them.
 */
export async function verifyCheckpoints(options: CheckpointOptions) {
  const { checkpoints, keys } = options;
  const { read, faults } = await readInOrder(options, await numbersOf(options));
  for (const { number, jws } of await checkpoints.latest()) {
    if (read.has(number)) continue;
    const checkpoint = await readCheckpoint(jws, keys);
    if (checkpoint?.number === number) read.set(number, checkpoint);
    else faults.push({ kind: 'checkpoint-forged', checkpoint: number });
  }
  const elsewhere = await readExternal(options);
  const all = [...read.values(), ...elsewhere.checkpoints];
  faults.push(...elsewhere.faults, ...(await compareCheckpoints(options, all)));
  return { checkpoints: all.length, faults };
}

/**
 * Returns the numbers of the checkpoints to read. Includes the last verified checkpoint, which must still
 * exist.
 */
async function numbersOf({ checkpoints, ranges, isPeriod, since }: CheckpointOptions): Promise<NumberRange> {
  if (!isPeriod) return { first: Math.max(1, since?.number ?? 1), last: Number.MAX_SAFE_INTEGER };
  const found = await Promise.all(
    [...ranges].map(([partition, rows]) => checkpoints.numbersOf(partition, rows)),
  );
  const known = found.filter((numbers) => numbers !== undefined);
  if (known.length === 0) return { first: 1, last: 0 };
  return {
    first: Math.min(...known.map(({ first }) => first)),
    last: Math.max(...known.map(({ last }) => last)),
  };
}

/**
 * Reads a sequence of checkpoints. No checkpoint may be missing, and each must contain the hash of the
 * previous checkpoint.
 */
async function readInOrder(options: CheckpointOptions, numbers: NumberRange) {
  const { checkpoints, since, signal } = options;
  const faults: AuditFault[] = [];
  const read = new Map<number, SignedCheckpoint>();
  let before: CheckpointPosition | undefined = numbers.first === 1 ? { number: 0, name: '' } : undefined;
  let isEmpty = true;
  for await (const page of checkpoints.between(numbers)) {
    signal?.throwIfAborted();
    for (const stored of page) {
      const expected = before === undefined ? numbers.first : before.number + 1;
      const isNext = stored.number === expected;
      if (!isNext) faults.push({ kind: 'checkpoint-missing', checkpoint: expected });
      const checkpoint = await readNext(options, stored, isNext ? before : undefined);
      if (checkpoint === undefined) faults.push({ kind: 'checkpoint-forged', checkpoint: stored.number });
      else read.set(stored.number, checkpoint);
      isEmpty = false;
      before = { number: stored.number, name: nameOf(stored.jws) };
    }
  }
  if (isEmpty && since !== undefined && since.number > 0) {
    faults.push({ kind: 'checkpoint-missing', checkpoint: since.number });
  }
  return { read, faults };
}

/**
 * Returns a stored checkpoint. Returns undefined if it is forged, does not follow the known previous
 * checkpoint, or differs from the last verified checkpoint.
 */
async function readNext(
  { keys, since }: CheckpointOptions,
  { number, jws }: StoredCheckpoint,
  before: CheckpointPosition | undefined,
): Promise<SignedCheckpoint | undefined> {
  const checkpoint = await readCheckpoint(jws, keys);
  if (checkpoint?.number !== number) return undefined;
  if (before !== undefined && checkpoint.previous !== before.name) return undefined;
  return number === since?.number && nameOf(jws) !== since.name ? undefined : checkpoint;
}

/** Reads external copies of checkpoints. The database must contain each copied checkpoint. */
async function readExternal({ checkpoints, keys, external = [] }: CheckpointOptions) {
  const faults: AuditFault[] = [];
  const read: SignedCheckpoint[] = [];
  for (const [line, jws] of external.entries()) {
    const checkpoint = await readCheckpoint(jws, keys);
    if (checkpoint === undefined) {
      faults.push({ kind: 'checkpoint-forged', sequence: line + 1 });
      continue;
    }
    read.push(checkpoint);
    const { number } = checkpoint;
    let stored: string | undefined;
    for await (const [found] of checkpoints.between({ first: number, last: number })) stored = found?.jws;
    if (stored !== jws) faults.push({ kind: 'checkpoint-missing', checkpoint: number });
  }
  return { checkpoints: read, faults };
}

async function compareCheckpoints(
  { chain, ranges }: CheckpointOptions,
  checkpoints: readonly SignedCheckpoint[],
): Promise<AuditFault[]> {
  const faults: AuditFault[] = [];
  for (const [partition, own] of Map.groupBy(checkpoints, (checkpoint) => checkpoint.partition)) {
    const range = ranges.get(partition);
    const last = own.reduce((one, other) => (other.sequence > one.sequence ? other : one));
    const { sequence, number, time } = last;
    if (range === undefined) {
      // The partition is missing. A checkpoint must record that it was dropped.
      const isDropped = own.some(({ kind }) => kind === 'drop');
      if (!isDropped) faults.push({ kind: 'dropped', partition, sequence, time, checkpoint: number });
      continue;
    }
    const end = await chain.endOf(partition);
    if (sequence > end.sequence) {
      const firstSequence = end.sequence + 1;
      faults.push({ kind: 'removed', partition, firstSequence, sequence, checkpoint: number });
    }
    const verified = own.filter((one) => one.sequence >= range.first && one.sequence <= range.last);
    faults.push(...(await rewrittenIn(chain, partition, verified)));
  }
  return faults;
}

const comparedAtOnce = 5000;

async function rewrittenIn(
  chain: ChainReader,
  partition: string,
  checkpoints: readonly SignedCheckpoint[],
): Promise<AuditFault[]> {
  const faults: AuditFault[] = [];
  for (let at = 0; at < checkpoints.length && faults.length < maxFaults; at += comparedAtOnce) {
    const some = checkpoints.slice(at, at + comparedAtOnce);
    const sequences = some.map(({ sequence }) => sequence);
    const rows = await chain.rowsAt(partition, sequences);
    for (const { sequence, hash, number } of some) {
      const row = rows.get(sequence);
      if (row === undefined || row.hash.toString('base64url') === hash) continue;
      const { id, time } = row;
      faults.push({ kind: 'rewritten', partition, sequence, id, time, checkpoint: number });
    }
  }
  return faults.slice(0, maxFaults);
}
