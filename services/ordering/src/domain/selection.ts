import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Catalogue, Orderable } from './catalogue.ts';
import type { AddedTest } from './change-tests.ts';
import { chosenTests, type Draft, differenceOf } from './draft.ts';
import type { Decision } from './review.ts';

/** A draft resolved with its catalogue. */
export type Selection = {
  /** The tests of the catalogue that the request will have. */
  readonly tests: readonly Orderable[];
  /** Codes of the tests that are new to the request; all of them in a new order. */
  readonly added: readonly string[];
  readonly addedTests: readonly Orderable[];
  /** Codes of the tests that the change removes from the request. */
  readonly removed: readonly string[];
};

/** Returns the tests that a draft adds, removes and retains. */
export function selectionOf(draft: Draft, catalogue: Catalogue): Selection {
  const tests = chosenTests(draft, catalogue);
  const { added, removed } = differenceOf(draft, catalogue);
  return { tests, added, removed, addedTests: tests.filter(({ code }) => added.includes(code)) };
}

/** Returns the tests that a selection adds, each with its reasons, if it has any. */
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
