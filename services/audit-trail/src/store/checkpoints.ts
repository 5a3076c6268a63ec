import { sql, type Transaction } from 'kysely';
import {
  type AuditKeys,
  type Checkpoint,
  nameOf,
  type SignedCheckpoint,
  signCheckpoint,
} from '../domain/checkpoint.ts';
import type { ChainEnd } from '../domain/row-chain.ts';
import type { AuditDatabase, AuditTables } from './tables.ts';

export type StoredCheckpoint = { readonly number: number; readonly jws: string };

export type NumberRange = { readonly first: number; readonly last: number };

export type Checkpoints = ReturnType<typeof createCheckpoints>;

const signLock = 4_711_902_027;
const pageSize = 5000;

/** Creates the store of checkpoints. */
export function createCheckpoints(database: AuditDatabase, keys: AuditKeys) {
  const stored = database.selectFrom('checkpoint').select(['number', 'jws']);
  return {
    /** Signs the end of a partition. Returns undefined if the row already has a checkpoint. */
    sign: (
      partition: string,
      end: ChainEnd,
      { now, kind }: { now: Date; kind: Checkpoint['kind'] },
    ): Promise<SignedCheckpoint | undefined> =>
      database.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(${signLock})`.execute(transaction);
        if (end.sequence === 0 || (await isSigned(transaction, { partition, end, kind }))) return undefined;
        const last = await lastOf(transaction);
        const checkpoint: Checkpoint = {
          number: Number(last?.number ?? 0) + 1,
          partition,
          sequence: end.sequence,
          hash: end.hash.toString('base64url'),
          time: now.toISOString(),
          kind,
          previous: last === undefined ? '' : nameOf(last.jws),
        };
        const jws = await signCheckpoint(checkpoint, keys);
        const [number, sequence] = [String(checkpoint.number), String(end.sequence)];
        const row = { number, partition, sequence, kind, signed_at: now, jws };
        await transaction.insertInto('checkpoint').values(row).execute();
        return { ...checkpoint, jws };
      }),
    /** Returns the checkpoints of a range of numbers in order, page by page. */
    async *between({ first, last }: NumberRange): AsyncGenerator<readonly StoredCheckpoint[]> {
      for (let from = first; from <= last; ) {
        const rows = await stored
          .where('number', '>=', String(from))
          .where('number', '<=', String(last))
          .orderBy('number')
          .limit(pageSize)
          .execute();
        const end = rows.at(-1);
        if (end === undefined) return;
        yield rows.map(asStored);
        from = Number(end.number) + 1;
      }
    },
    /** Returns the last checkpoint of each partition, of those signed before the time if it is given. */
    async latest(before?: Date): Promise<readonly StoredCheckpoint[]> {
      const some = before === undefined ? stored : stored.where('signed_at', '<=', before);
      const byPartition = some.distinctOn('partition').orderBy('partition');
      const rows = await byPartition.orderBy('sequence', 'desc').orderBy('number', 'desc').execute();
      return rows.map(asStored);
    },
    /** Returns the numbers of the first and the last checkpoint for a range of rows. */
    async numbersOf(partition: string, { first, last }: NumberRange): Promise<NumberRange | undefined> {
      const row = await database
        .selectFrom('checkpoint')
        .select(({ fn }) => [fn.min<string | null>('number').as('first'), fn.max('number').as('last')])
        .where('partition', '=', partition)
        .where('sequence', '>=', String(first))
        .where('sequence', '<=', String(last))
        .executeTakeFirstOrThrow();
      return row.first === null ? undefined : { first: Number(row.first), last: Number(row.last) };
    },
  };
}

const lastOf = (transaction: Transaction<AuditTables>) =>
  transaction
    .selectFrom('checkpoint')
    .select(['number', 'jws'])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();

async function isSigned(
  transaction: Transaction<AuditTables>,
  { partition, end, kind }: { partition: string; end: ChainEnd; kind: Checkpoint['kind'] },
): Promise<boolean> {
  const known = await transaction
    .selectFrom('checkpoint')
    .select('number')
    .where('partition', '=', partition)
    .where('sequence', '>=', String(end.sequence))
    .where('kind', 'in', kind === 'drop' ? ['drop'] : ['rows', 'drop'])
    .limit(1)
    .executeTakeFirst();
  return known !== undefined;
}

const asStored = ({ number, jws }: { number: string; jws: string }): StoredCheckpoint => ({
  number: Number(number),
  jws,
});
