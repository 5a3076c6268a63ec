import { sql } from 'kysely';
import type { OrderingDatabase, OrderingTransaction } from './database.ts';
import type { Visibility } from './keys.ts';
import { readList } from './list-queries.ts';

/** The tests that a practice requests most. */
export type MostRequested = {
  /** Codes, most requested first. */
  readonly codes: readonly string[];
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly countedAt: number;
};

/** Reads the last count for a practice, by its key (`practiceKeyOf`). */
export async function findMostRequested(
  database: OrderingDatabase,
  practiceKey: string,
): Promise<MostRequested | undefined> {
  const row = await database
    .selectFrom('most_requested')
    .selectAll()
    .where('practice_key', '=', practiceKey)
    .executeTakeFirst();
  return row && { codes: row.codes, countedAt: row.counted_at.getTime() };
}

/** Replaces the stored most requested tests of a practice. */
export async function storeMostRequested(
  tx: OrderingTransaction,
  practiceKey: string,
  { codes, countedAt }: MostRequested,
): Promise<void> {
  const values = { codes: [...codes], counted_at: new Date(countedAt).toISOString() };
  await tx
    .insertInto('most_requested')
    .values({ practice_key: practiceKey, ...values })
    .onConflict((conflict) => conflict.column('practice_key').doUpdateSet(values))
    .execute();
}

type CountedRequests = {
  readonly visibility: Visibility;
  /** The time of the oldest request to count, in milliseconds since 1970. */
  readonly since: number;
  /** The maximum number of requests to count, newest first. */
  readonly requests: number;
  /** The minimum number of requests that contain a returned test. */
  readonly atLeast: number;
  /** The maximum number of codes to return. */
  readonly codes: number;
};

/**
 * Counts the requests of each test. Returns the codes, most requested first. Reads only the newest `requests`
 * requests.
 */
export async function countTests(
  tx: OrderingTransaction,
  { visibility, since, requests, atLeast, codes }: CountedRequests,
): Promise<string[]> {
  const filter = { visibility, statuses: ['Incomplete', 'Complete'] } as const;
  const newest = await readList(tx, filter, { go: 'older', limit: requests });
  const guids = newest.filter(({ created_at }) => created_at.getTime() >= since).map(({ guid }) => guid);
  const { rows } = await sql<{ code: string }>`
    select test -> 'code' ->> 'value' as code
    from ordering.test_requests request
      cross join lateral jsonb_array_elements(request.batches) batch
      cross join lateral jsonb_array_elements(batch -> 'tests') test
    where request.guid = any(${guids}::uuid[]) and test ->> 'status' <> 'D'
    group by code
    having count(distinct request.guid) >= ${atLeast}
    order by count(distinct request.guid) desc, code
    limit ${codes}`.execute(tx);
  return rows.map(({ code }) => code);
}
