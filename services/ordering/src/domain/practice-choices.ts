import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { Catalogue, OrderSet } from './catalogue.ts';

/** An order set that a practice saved. */
export type PracticeSet = {
  readonly id: string;
  readonly name: string;
  /** Codes of the tests in the set. The catalogue may no longer contain some of them. */
  readonly tests: readonly string[];
  readonly addedBy: LaunchRequest['author'];
  /** ISO 8601 instant */
  readonly addedAt: string;
};

/** A practice's favourites and order sets for one catalogue. */
export type PracticeChoices = {
  /** Codes of tests, in the order in which they were added. */
  readonly favourites: readonly string[];
  /** Sorted by name. */
  readonly sets: readonly PracticeSet[];
};

/** The favourites and order sets of a practice, and the favourites of the user. */
export type OwnChoices = PracticeChoices & {
  /** Codes of the user's own favourites. */
  readonly personal: readonly string[];
};

/** The maximum number of favourites of a practice, and of a user. */
export const maxFavourites = 100;
export const maxPracticeSets = 50;
export const maxSetNameLength = 60;

/** Returns an order set of a practice, without tests that have left the catalogue. */
export const orderSetOf = ({ id, name, tests }: PracticeSet, { orderables }: Catalogue): OrderSet => ({
  id,
  name,
  tests: tests.flatMap((code) => orderables.get(code) ?? []),
});
