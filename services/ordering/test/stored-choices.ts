import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { OrderingDatabase } from '../src/store/database.ts';
import { findPersonalFavourites } from '../src/store/personal-favourites.ts';
import { findPracticeChoices } from '../src/store/practice-choices.ts';
import { addFavourite, addPersonalFavourite, savePracticeSet } from '../src/work/change-practice-choices.ts';

type Added = { readonly practiceKey: string; readonly by: LaunchRequest['author'] };

/** Returns functions that read and add favourites and order sets, each addition in its own transaction. */
export function practiceChoicesIn(database: OrderingDatabase) {
  const at = new Date().toISOString();
  return {
    of: (practiceKey: string) => findPracticeChoices(database, practiceKey),
    personalOf: (userKey: string) => findPersonalFavourites(database, userKey),
    addPersonalFavourite: (favourite: { readonly userKey: string; readonly code: string }) =>
      database.transaction().execute((tx) => addPersonalFavourite(tx, { ...favourite, at })),
    addFavourite: ({ by, ...favourite }: Added & { readonly code: string }) =>
      database.transaction().execute((tx) => addFavourite(tx, favourite, { by, at })),
    saveSet: ({ by, ...set }: Added & { readonly name: string; readonly tests: readonly string[] }) =>
      database.transaction().execute((tx) => savePracticeSet(tx, set, { by, at })),
  };
}
