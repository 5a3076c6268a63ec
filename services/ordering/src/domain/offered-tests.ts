import { isFor, type PatientTraits } from './applies-to.ts';
import type { Catalogue } from './catalogue.ts';
import { isNamedBy, type Meaning, type TestSearch } from './test-search.ts';

type Offer = {
  readonly catalogue: Pick<Catalogue, 'orderables'>;
  /** The words in the search box; empty for the whole catalogue. */
  readonly query: string;
  readonly patient: PatientTraits;
  readonly search: TestSearch;
};

/** The tests that a page offers. */
export type OfferedTests = {
  /** Codes, best first; in the order of the catalogue without a query. */
  readonly codes: ReadonlySet<string>;
  /** Codes of the tests that the query names: the best for each of its parts. */
  readonly best: readonly string[];
};

/**
 * Returns the tests that a page offers for a patient: those that apply to them and match the query. A test
 * that does not apply is offered only if the query is exactly one of its names, after the tests that do.
 */
export function offeredTests({ catalogue, query, patient, search }: Offer): OfferedTests {
  const meanings = search(query).map((meaning) => ({
    ...meaning,
    codes: codesFor(meaning, catalogue, patient),
  }));
  const firsts = meanings.flatMap(({ codes, isNamed }) => (isNamed ? codes.slice(0, 1) : []));
  const codes = new Set([...firsts, ...meanings.flatMap((meaning) => meaning.codes)]);
  return { codes, best: [...new Set(firsts)] };
}

function codesFor({ codes, query }: Meaning, { orderables }: Offer['catalogue'], patient: PatientTraits) {
  const tests = codes.flatMap((code) => orderables.get(code) ?? []);
  const usual = tests.filter((test) => isFor(test, patient));
  const unusual = tests.filter((test) => !isFor(test, patient) && isNamedBy(test, query));
  return [...usual, ...unusual].map(({ code }) => code);
}
