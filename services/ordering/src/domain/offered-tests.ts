import { type Named, namedTests } from '../../public/named-tests.js';
import { isFor, type PatientTraits } from './applies-to.ts';
import type { Catalogue, Elsewhere, Orderable } from './catalogue.ts';
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
  /** What the query names: the tests that Enter adds are the first of `codes`. */
  readonly named: Named;
  /** What the query finds that is requested in another way. */
  readonly elsewhere: readonly Elsewhere[];
  /** Tests that the query finds, but that do not apply to the patient, if it finds no others. */
  readonly unusual: readonly Orderable[];
};

/** The tests that are explained in place of matches. */
const maxUnusual = 3;

/**
 * Returns the tests that a page offers for a patient: those that the query names, then those that apply to
 * the patient and match the query. A test that does not apply is offered only if the query is exactly one of
 * its names.
 */
export function offeredTests({ catalogue, query, patient, search }: Offer): OfferedTests {
  const named = namedTests(query, search.names);
  const { entries: elsewhere, isWhole } = search.findElsewhere(query);
  // Near misses beside the name of something else would be chosen in its place.
  const meanings = isWhole ? [] : search.find(query);
  const found = meanings.flatMap((meaning) => codesFor(meaning, catalogue, patient));
  // Where the query as a whole finds nothing, its known parts are better than an empty list.
  const codes = new Set([...named.codes, ...(found.length === 0 ? named.known : found)]);
  const unusual = codes.size === 0 ? meanings.flatMap((meaning) => meaning.codes) : [];
  return {
    codes,
    named,
    elsewhere,
    unusual: unusual.slice(0, maxUnusual).flatMap((code) => catalogue.orderables.get(code) ?? []),
  };
}

function codesFor({ codes, query }: Meaning, { orderables }: Offer['catalogue'], patient: PatientTraits) {
  const tests = codes.flatMap((code) => orderables.get(code) ?? []);
  const usual = tests.filter((test) => isFor(test, patient));
  const unusual = tests.filter((test) => !isFor(test, patient) && isNamedBy(test, query));
  return [...usual, ...unusual].map(({ code }) => code);
}
