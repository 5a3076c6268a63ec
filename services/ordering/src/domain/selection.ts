import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Catalogue, Orderable } from './catalogue.ts';
import type { AddedTest } from './change-tests.ts';
import { chosenTests, type Draft, differenceOf } from './draft.ts';
import type { Decision } from './review.ts';

/** The tests of a draft, as objects of the catalogue. */
export type Selection = {
  /** The tests that the request will contain, without tests that have left the catalogue. */
  readonly tests: readonly Orderable[];
  /** Codes of the tests that the draft adds. A new order adds all its tests. */
  readonly added: readonly string[];
  readonly addedTests: readonly Orderable[];
  /** Codes of the tests that the draft removes from the request. */
  readonly removed: readonly string[];
};

/** Returns the tests of a draft, and the tests that it adds and removes. */
export function selectionOf(draft: Draft, catalogue: Catalogue): Selection {
  const tests = chosenTests(draft, catalogue);
  const { added, removed } = differenceOf(draft, catalogue);
  return { tests, added, removed, addedTests: tests.filter(({ code }) => added.includes(code)) };
}

/**
 * Returns the added tests of a selection with their reasons for a repeat, and for a test that does not apply
 * to the patient.
 */
export function withReasons(
  { addedTests }: Pick<Selection, 'addedTests'>,
  { repeatReasons, overrideReasons }: Pick<Decision, 'repeatReasons' | 'overrideReasons'>,
): AddedTest[] {
  return addedTests.map((test) => {
    const repeatReason = repeatReasons[test.code];
    const overrideReason = overrideReasons[test.code];
    return {
      test,
      ...withoutUndefined({ repeatReason, overrideReason }),
    };
  });
}
