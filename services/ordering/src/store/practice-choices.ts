import { randomUUID } from 'node:crypto';
import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { type Selectable, sql } from 'kysely';
import type { PracticeChoices, PracticeSet } from '../domain/practice-choices.ts';
import { jsonb, type OrderingDatabase, type OrderingTables, type OrderingTransaction } from './database.ts';

/*
 * The favourites and order sets of practices. Every function requires the key of a practice and a catalogue
 * (`choicesKeyOf`), and accesses only the favourites and order sets of that key.
 */

/** The user who added a favourite or an order set, and when. */
export type Addition = {
  readonly by: LaunchRequest['author'];
  /** ISO 8601 instant */
  readonly at: string;
};

/** Serialises changes for a practice, so that concurrent changes do not exceed the limits. */
export async function lockPracticeChoices(tx: OrderingTransaction, practiceKey: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${practiceKey}, 1))`.execute(tx);
}

/** Reads the favourites of a practice in the order in which they were added, and its order sets by name. */
export async function findPracticeChoices(
  database: OrderingDatabase,
  practiceKey: string,
): Promise<PracticeChoices> {
  const favourites = await database
    .selectFrom('favourites')
    .select('code')
    .where('practice_key', '=', practiceKey)
    .orderBy('added_at')
    .orderBy('code')
    .execute();
  const sets = await database
    .selectFrom('practice_sets')
    .selectAll()
    .where('practice_key', '=', practiceKey)
    .orderBy(sql`lower(name)`)
    .execute();
  return {
    favourites: favourites.map(({ code }) => code),
    sets: sets.map(toPracticeSet),
  };
}

const toPracticeSet = (row: Selectable<OrderingTables['practice_sets']>): PracticeSet => ({
  id: row.id,
  name: row.name,
  tests: row.tests,
  addedBy: row.added_by,
  addedAt: row.added_at.toISOString(),
});

/** Stores a new favourite of a practice. */
export async function insertFavourite(
  tx: OrderingTransaction,
  favourite: { readonly practiceKey: string; readonly code: string },
  { by, at }: Addition,
): Promise<void> {
  const { practiceKey, code } = favourite;
  await tx
    .insertInto('favourites')
    .values({ practice_key: practiceKey, code, added_by: jsonb(by), added_at: at })
    .execute();
}

/** Removes a favourite of a practice. Returns whether the practice had this favourite. */
export async function deleteFavourite(
  tx: OrderingTransaction,
  practiceKey: string,
  code: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('favourites')
    .where('practice_key', '=', practiceKey)
    .where('code', '=', code)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Stores an order set. Without an id, generates a new id. */
export async function insertPracticeSet(
  tx: OrderingTransaction,
  set: NewPracticeSet,
  { by, at }: Addition,
): Promise<void> {
  const { id = randomUUID(), practiceKey, name, tests } = set;
  await tx
    .insertInto('practice_sets')
    .values({
      id,
      practice_key: practiceKey,
      name,
      tests: [...tests],
      added_by: jsonb(by),
      added_at: at,
    })
    .execute();
}

export type NewPracticeSet = {
  readonly id?: string;
  readonly practiceKey: string;
  readonly name: string;
  readonly tests: readonly string[];
};

/** Deletes and returns an order set. Returns undefined if the practice has no set with this id. */
export async function deletePracticeSet(
  tx: OrderingTransaction,
  practiceKey: string,
  id: string,
): Promise<PracticeSet | undefined> {
  const deleted = await tx
    .deleteFrom('practice_sets')
    .where('practice_key', '=', practiceKey)
    .where(sql<string>`id::text`, '=', id)
    .returningAll()
    .executeTakeFirst();
  return deleted && toPracticeSet(deleted);
}
