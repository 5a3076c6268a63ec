import { isFor, type PatientTraits } from './applies-to.ts';
import { type Catalogue, isImaging, type Orderable } from './catalogue.ts';
import { isLive } from './lifecycle.ts';
import { needsReason, type Repeat } from './repeats.ts';
import { codeOf, liveCodes, type TestRequest } from './test-request.ts';

/** The tests of an earlier request that a new order for the same patient can repeat. */
export type OrderAgain = {
  readonly tests: readonly Orderable[];
  /** Codes of tests that no longer apply to the patient. */
  readonly leftOut: readonly string[];
  /** Codes of imaging, and of tests whose usual interval has not passed, which a user must choose one by one. */
  readonly tooSoon: readonly string[];
  /** Names of tests that have left the catalogue. */
  readonly missing: readonly string[];
};

/** Returns the tests of an earlier request that are in the catalogue. */
export const knownTests = (request: TestRequest, { orderables }: Pick<Catalogue, 'orderables'>) =>
  liveCodes(request).flatMap((code) => orderables.get(code) ?? []);

/**
 * Splits the tests of a request into tests that can be ordered today and tests that cannot.
 * @param basis `repeats`: the tests of the request that were requested recently, also by another request
 */
export function orderAgain(
  request: TestRequest,
  { orderables }: Pick<Catalogue, 'orderables'>,
  { patient, repeats }: { readonly patient: PatientTraits; readonly repeats: readonly Repeat[] },
): OrderAgain {
  const lines = request.batches.flatMap(({ tests }) => tests.filter(isLive));
  const known = knownTests(request, { orderables });
  const recent = repeats.filter((repeat) => needsReason(repeat) || repeat.daysAgo === 0);
  const isTooSoon = (test: Orderable) =>
    isImaging(test, test.location) || recent.some((repeat) => repeat.test === test);
  const usual = known.filter((test) => isFor(test, patient));
  return {
    tests: usual.filter((test) => !isTooSoon(test)),
    tooSoon: usual.filter(isTooSoon).map(({ code }) => code),
    leftOut: known.filter((test) => !isFor(test, patient)).map(({ code }) => code),
    missing: lines.filter((line) => !orderables.has(codeOf(line))).map(({ description }) => description),
  };
}
