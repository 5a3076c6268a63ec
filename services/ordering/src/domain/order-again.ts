import { isFor, type PatientTraits } from './applies-to.ts';
import type { Catalogue, Orderable } from './catalogue.ts';
import { isLive } from './lifecycle.ts';
import { codeOf, type TestRequest } from './test-request.ts';

/** The tests of an earlier request, for a new order of the same patient. */
export type OrderAgain = {
  readonly tests: readonly Orderable[];
  /** Codes of the tests that no longer apply to the patient. */
  readonly leftOut: readonly string[];
  /** Names of the tests that the catalogue does not contain. */
  readonly missing: readonly string[];
};

/** Returns the tests of a request that can be ordered today, and those that cannot. */
export function orderAgain(
  { batches }: Pick<TestRequest, 'batches'>,
  { orderables }: Pick<Catalogue, 'orderables'>,
  patient: PatientTraits,
): OrderAgain {
  const lines = batches.flatMap(({ tests }) => tests.filter(isLive));
  const known = lines.flatMap((line) => orderables.get(codeOf(line)) ?? []);
  return {
    tests: known.filter((test) => isFor(test, patient)),
    leftOut: known.filter((test) => !isFor(test, patient)).map(({ code }) => code),
    missing: lines.filter((line) => !orderables.has(codeOf(line))).map(({ description }) => description),
  };
}
