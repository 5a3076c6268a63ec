import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { Catalogue, OrderSet } from './catalogue.ts';

/** A practice's own order set. */
export type PracticeSet = {
  readonly id: string;
  readonly name: string;
  /** Codes of the catalogue at that time. */
  readonly tests: readonly string[];
  readonly addedBy: LaunchRequest['author'];
  /** ISO 8601 instant */
  readonly addedAt: string;
};

/** A practice's own choices in a catalogue. */
export type PracticeChoices = {
  /** Codes of tests, first added first. */
  readonly favourites: readonly string[];
  /** By name. */
  readonly sets: readonly PracticeSet[];
};

/** The choices of a practice and of the user. */
export type OwnChoices = PracticeChoices & {
  /** The favourites of the user. */
  readonly personal: readonly string[];
};

/** The maximum number of favourites, of a practice and of each user. */
export const maxFavourites = 100;
/** The maximum number of order sets of a practice. */
export const maxPracticeSets = 50;
/** The maximum length of the name of an order set. */
export const maxSetNameLength = 60;

/** Returns the order set of a practice, with the tests that the catalogue still contains. */
export const orderSetOf = ({ id, name, tests }: PracticeSet, { orderables }: Catalogue): OrderSet => ({
  id,
  name,
  tests: tests.flatMap((code) => orderables.get(code) ?? []),
});
