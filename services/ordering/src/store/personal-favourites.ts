import { sql } from 'kysely';
import type { OrderingDatabase, OrderingTransaction } from './database.ts';

/*
 * The favourites of users. Every function requires the key of a user (`userKeyOf`), and accesses only the
 * favourites of that user.
 */

/** Serialises changes of a user's favourites, so that concurrent changes do not exceed the limit. */
export async function lockPersonalFavourites(tx: OrderingTransaction, userKey: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${userKey}, 2))`.execute(tx);
}

/** Reads the codes of a user's favourites, in the order in which they were added. */
export async function findPersonalFavourites(database: OrderingDatabase, userKey: string): Promise<string[]> {
  const rows = await database
    .selectFrom('personal_favourites')
    .select('code')
    .where('user_key', '=', userKey)
    .orderBy('added_at')
    .orderBy('code')
    .execute();
  return rows.map(({ code }) => code);
}

/** Stores a new favourite of a user. `at` is an ISO 8601 instant. */
export async function insertPersonalFavourite(
  tx: OrderingTransaction,
  { userKey, code, at }: { readonly userKey: string; readonly code: string; readonly at: string },
): Promise<void> {
  await tx.insertInto('personal_favourites').values({ user_key: userKey, code, added_at: at }).execute();
}

/** Removes a favourite of a user. Returns whether the user had this favourite. */
export async function deletePersonalFavourite(
  tx: OrderingTransaction,
  userKey: string,
  code: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('personal_favourites')
    .where('user_key', '=', userKey)
    .where('code', '=', code)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
