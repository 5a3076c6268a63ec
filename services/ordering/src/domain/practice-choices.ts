import type { LaunchRequest } from '@clinical-launch/contracts';
import type { Catalogue, OrderSet } from './catalogue.ts';

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

/** What a practice keeps of a catalogue for its own page. */
export type PracticeChoices = {
  /** Codes of tests. */
  readonly favourites: readonly string[];
  /** By name. */
  readonly sets: readonly PracticeSet[];
};

/** The most of each that a practice keeps. */
export const maxFavourites = 100;
export const maxPracticeSets = 50;
/** The longest name of an order set. */
export const maxSetNameLength = 60;

/** Makes the order set of a practice, with the tests that the catalogue still has. */
export const orderSetOf = ({ id, name, tests }: PracticeSet, { orderables }: Catalogue): OrderSet => ({
  id,
  name,
  tests: tests.flatMap((code) => orderables.get(code) ?? []),
});
