import { type Named, namedTests } from '../../public/named-tests.js';
import { isFor, type PatientTraits } from './applies-to.ts';
import type { Catalogue, Elsewhere, Orderable } from './catalogue.ts';
import { isNamedBy, type Meaning, type TestSearch } from './test-search.ts';

type Offer = {
  readonly catalogue: Pick<Catalogue, 'orderables'>;
  /** The text in the search box; empty for the whole catalogue. */
  readonly query: string;
  readonly patient: PatientTraits;
  readonly search: TestSearch;
};

/** The tests that a page offers. */
export type OfferedTests = {
  /** The codes of the tests, best match first. Without a query, in the order of the catalogue. */
  readonly codes: ReadonlySet<string>;
  /** The tests that the query names. Enter adds these tests. They come first in `codes`. */
  readonly named: Named;
  /** The services that the query finds and that practices request in another way. */
  readonly elsewhere: readonly Elsewhere[];
  /** Tests that match but do not apply to the patient; empty if `codes` contains a test. */
  readonly unusual: readonly Orderable[];
};

/** The maximum number of tests for which a page explains why they do not apply to the patient. */
const maxUnusual = 3;

/**
 * Returns the tests that a page offers for a patient. Tests that the query names come first. Then come tests
 * that match the query and apply to the patient. A test that does not apply is offered only if the query, or
 * a part of it, is exactly one of its names.
 */
export function offeredTests({ catalogue, query, patient, search }: Offer): OfferedTests {
  const named = namedTests(query, search.names);
  const { entries: elsewhere, isWhole } = search.findElsewhere(query);
  // If the query names an `elsewhere` service, offers no test, so that nobody chooses a similar test instead.
  const meanings = isWhole ? [] : search.find(query);
  const found = meanings.flatMap((meaning) => codesFor(meaning, catalogue, patient));
  const codes = new Set([...named.known, ...found]);
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
