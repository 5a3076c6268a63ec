import { isFor, type PatientTraits } from './applies-to.ts';
import type { Catalogue, Orderable } from './catalogue.ts';
import { isLive } from './lifecycle.ts';
import { codeOf, type TestRequest } from './test-request.ts';

/** The tests of an earlier request that a new order for the same patient can repeat. */
export type OrderAgain = {
  readonly tests: readonly Orderable[];
  /** Codes of tests that no longer apply to the patient. */
  readonly leftOut: readonly string[];
  /** Names of tests that have left the catalogue. */
  readonly missing: readonly string[];
};

/** Splits the tests of a request into tests that can be ordered today and tests that cannot. */
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
