import { maxFavourites, maxPracticeSets } from '../domain/practice-choices.ts';
import type { OrderingTransaction } from '../store/database.ts';
import {
  findPersonalFavourites,
  insertPersonalFavourite,
  lockPersonalFavourites,
} from '../store/personal-favourites.ts';
import {
  type Addition,
  findPracticeChoices,
  insertFavourite,
  insertPracticeSet,
  lockPracticeChoices,
  type NewPracticeSet,
} from '../store/practice-choices.ts';

/** Adds a favourite of a practice. Returns `full` if the practice has the maximum number. */
export async function addFavourite(
  tx: OrderingTransaction,
  favourite: { readonly practiceKey: string; readonly code: string },
  addition: Addition,
): Promise<'added' | 'full'> {
  const { practiceKey, code } = favourite;
  await lockPracticeChoices(tx, practiceKey);
  const { favourites } = await findPracticeChoices(tx, practiceKey);
  if (favourites.includes(code)) return 'added';
  if (favourites.length >= maxFavourites) return 'full';
  await insertFavourite(tx, favourite, addition);
  return 'added';
}

/**
 * Adds a favourite of a user. `at` is an ISO 8601 instant. Returns `full` if the user has the maximum number.
 */
export async function addPersonalFavourite(
  tx: OrderingTransaction,
  favourite: { readonly userKey: string; readonly code: string; readonly at: string },
): Promise<'added' | 'full'> {
  const { userKey, code } = favourite;
  await lockPersonalFavourites(tx, userKey);
  const favourites = await findPersonalFavourites(tx, userKey);
  if (favourites.includes(code)) return 'added';
  if (favourites.length >= maxFavourites) return 'full';
  await insertPersonalFavourite(tx, favourite);
  return 'added';
}

/**
 * Saves an order set. Returns `taken` if the practice already uses the name, `full` at the maximum number.
 */
export async function savePracticeSet(
  tx: OrderingTransaction,
  set: NewPracticeSet,
  addition: Addition,
): Promise<'saved' | 'taken' | 'full'> {
  const { practiceKey, name } = set;
  await lockPracticeChoices(tx, practiceKey);
  const { sets } = await findPracticeChoices(tx, practiceKey);
  if (sets.some((other) => other.name.toLowerCase() === name.toLowerCase())) return 'taken';
  if (sets.length >= maxPracticeSets) return 'full';
  await insertPracticeSet(tx, set, addition);
  return 'saved';
}
