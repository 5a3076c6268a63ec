import { randomUUID } from 'node:crypto';
import type { LaunchRequest } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { sql, type Transaction } from 'kysely';
import { jsonb, type OrderingDatabase, type OrderingTables } from './database.ts';

/** An order set that a practice made. */
export type PracticeSet = {
  readonly id: string;
  readonly name: string;
  /** Codes of the catalogue as it was then. */
  readonly tests: readonly string[];
  readonly addedBy: LaunchRequest['author'];
  /** ISO 8601 instant */
  readonly addedAt: string;
};

type Added = { readonly practiceKey: string; readonly by: LaunchRequest['author'] };

/**
 * What each practice keeps of a catalogue for its own page. Every call names the practice and the catalogue, as
 * `choicesKeyOf` does, and sees no other's.
 */
export type PracticeChoices = {
  /** The codes of its favourites, and its order sets by name. */
  of(practiceKey: string): Promise<{ readonly favourites: string[]; readonly sets: PracticeSet[] }>;
  addFavourite(favourite: Added & { readonly code: string }): Promise<'added' | 'full'>;
  removeFavourite(practiceKey: string, code: string): Promise<void>;
  /** Keeps an order set under a name that the practice has not used. */
  saveSet(
    set: Added & { readonly name: string; readonly tests: readonly string[] },
  ): Promise<'saved' | 'taken' | 'full'>;
  /** The name of the set that was deleted; undefined when there is none. */
  deleteSet(practiceKey: string, id: string): Promise<string | undefined>;
};

/** The most of each that a practice keeps. */
export const maxFavourites = 100;
export const maxPracticeSets = 50;
/** The longest name of an order set. */
export const maxSetNameLength = 60;

/** Keeps the favourites and order sets of practices. */
export function createPracticeChoices(database: OrderingDatabase, clock: Clock): PracticeChoices {
  const added = (by: LaunchRequest['author']) => ({
    added_by: jsonb(by),
    added_at: new Date(clock.now()).toISOString(),
  });
  return {
    of: (practiceKey) => findChoices(database, practiceKey),
    addFavourite: ({ practiceKey, code, by }) =>
      inPractice(database, practiceKey, async (transaction) => {
        const { favourites } = await findChoices(transaction, practiceKey);
        if (favourites.includes(code)) return 'added';
        if (favourites.length >= maxFavourites) return 'full';
        const values = { practice_key: practiceKey, code, ...added(by) };
        await transaction.insertInto('favourites').values(values).execute();
        return 'added';
      }),
    async removeFavourite(practiceKey, code) {
      await database
        .deleteFrom('favourites')
        .where('practice_key', '=', practiceKey)
        .where('code', '=', code)
        .execute();
    },
    saveSet: ({ practiceKey, name, tests, by }) =>
      inPractice(database, practiceKey, async (transaction) => {
        const { sets } = await findChoices(transaction, practiceKey);
        if (sets.some((set) => set.name.toLowerCase() === name.toLowerCase())) return 'taken';
        if (sets.length >= maxPracticeSets) return 'full';
        const values = { id: randomUUID(), practice_key: practiceKey, name, tests: [...tests], ...added(by) };
        await transaction.insertInto('practice_sets').values(values).execute();
        return 'saved';
      }),
    async deleteSet(practiceKey, id) {
      const deleted = await database
        .deleteFrom('practice_sets')
        .where('practice_key', '=', practiceKey)
        .where(sql<string>`id::text`, '=', id)
        .returning('name')
        .executeTakeFirst();
      return deleted?.name;
    },
  };
}

/** One change of a practice's choices at a time, so that together they keep to the limits. */
function inPractice<T>(
  database: OrderingDatabase,
  practiceKey: string,
  change: (transaction: Transaction<OrderingTables>) => Promise<T>,
): Promise<T> {
  return database.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${practiceKey}, 1))`.execute(transaction);
    return change(transaction);
  });
}

async function findChoices(database: OrderingDatabase | Transaction<OrderingTables>, practiceKey: string) {
  const favourites = await database
    .selectFrom('favourites')
    .select('code')
    .where('practice_key', '=', practiceKey)
    .execute();
  const sets = await database
    .selectFrom('practice_sets')
    .selectAll()
    .where('practice_key', '=', practiceKey)
    .orderBy(sql`lower(name)`)
    .execute();
  return {
    favourites: favourites.map(({ code }) => code),
    sets: sets.map(({ id, name, tests, added_by, added_at }) => ({
      id,
      name,
      tests,
      addedBy: added_by,
      addedAt: added_at.toISOString(),
    })),
  };
}
