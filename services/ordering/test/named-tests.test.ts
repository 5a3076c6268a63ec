import { describe, expect, it } from '@jest/globals';
import { namedTests, readNames, writeNames } from '../public/named-tests.js';
import { readCatalogue } from '../src/catalogue-file.ts';
import { offeredTests } from '../src/domain/offered-tests.ts';
import { createTestSearch } from '../src/domain/test-search.ts';

const catalogue = readCatalogue();
const search = createTestSearch(catalogue);
const tests = [...catalogue.orderables.values()];

// The expected results are computed from the catalogue without any code of the search.

/** Returns the words of a text in lower case, without accents, punctuation and "and". */
const plainWords = (text: string) =>
  text
    .toLowerCase()
    .replaceAll('æ', 'ae')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && word !== 'and');

/** Returns the American spelling of a word. Words of fewer than four letters are unchanged. */
const spelt = (word: string) =>
  word.length < 4
    ? word
    : word
        .replace(/[ao]e/g, 'e')
        .replace('sulph', 'sulf')
        .replace(/is(ed|ing)$/, 'iz$1')
        .replace(/our(s?)$/, 'or$1');

/** Returns the forms of a name that the search treats as equal: without spaces, with and without plural s. */
function formsOf(words: readonly string[]): string[] {
  const singular = words.map((word) => (word.length < 4 ? word : word.replace(/s$/, '')));
  const glued = [words.join('')].map((word) => (word.length < 4 ? word : word.replace(/s$/, '')));
  return [words, singular, glued].map((each) => spelt(each.map(spelt).join('')));
}

const named = tests.flatMap(({ code, name, abbreviation = name, synonyms, imaging }) => [
  ...[code, name, abbreviation].map((each) => ({ name: each, code, isAdded: true })),
  ...synonyms.map((each) => ({ name: each, code, isAdded: imaging === undefined })),
]);
const byForm = Map.groupBy(
  named.flatMap((entry) => formsOf(plainWords(entry.name)).map((form) => ({ form, ...entry }))),
  ({ form }) => form,
);
const codesOf = (words: readonly string[]) =>
  new Set(
    formsOf(words)
      .flatMap((form) => byForm.get(form) ?? [])
      .map(({ code }) => code),
  );

/** Returns whether the words can be read as complete names of exactly these tests, each at least once. */
function canMean(words: readonly string[], codes: readonly string[], seen: readonly string[] = []): boolean {
  if (words.length === 0) return new Set(seen).size === codes.length;
  return words.some((_, at) =>
    [...codesOf(words.slice(0, at + 1))].some(
      (code) => codes.includes(code) && canMean(words.slice(at + 1), codes, [...seen, code]),
    ),
  );
}

/** Returns the queries that would add a test although they do not name it. */
const faultyAmong = (queries: Iterable<string>) =>
  [...queries].filter((query) => {
    const { codes } = namedTests(query, search.names);
    return codes.length > 0 && !canMean(plainWords(query), codes);
  });

const unique = [...new Set(named.map(({ name }) => name.toLowerCase()))];
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789 '.split('');

/** Generates every misspelling of a name by one letter: added, omitted, changed, or swapped with the next. */
function* editsOf(name: string): Generator<string> {
  for (let at = 0; at <= name.length; at += 1) {
    const [start, rest] = [name.slice(0, at), name.slice(at)];
    yield start + rest.slice(1);
    yield start + (rest[1] ?? '') + (rest[0] ?? '') + rest.slice(2);
    for (const letter of letters) {
      yield start + letter + rest;
      yield start + letter + rest.slice(1);
    }
  }
}

describe('the Enter key in the search', () => {
  it('adds a test by its name, abbreviation and code, and by a synonym unless the test is an examination', () => {
    const faulty = named.filter(({ name, code, isAdded }) => {
      const isOneTest = codesOf(plainWords(name)).size === 1;
      const expected = isAdded && isOneTest ? [code] : [];
      return String(namedTests(name, search.names).codes) !== String(expected);
    });
    expect(faulty).toEqual([]);
  });

  it('adds nothing for a prefix or a word of a name, unless the prefix or word is a complete name', () => {
    expect(
      faultyAmong(unique.flatMap((name) => name.split('').map((_, at) => name.slice(0, at + 1)))),
    ).toEqual([]);
    expect(faultyAmong(unique.flatMap((name) => name.split(/\W+/)))).toEqual([]);
  });

  it('adds nothing for a name misspelt by one letter, unless the misspelling consists of complete names', () => {
    expect(unique.flatMap((name) => faultyAmong(editsOf(name)))).toEqual([]);
  });

  it('adds no examination for a search term that is not its name', () => {
    const finds = tests.flatMap((test) => test.finds);
    const added = finds.flatMap((each) => namedTests(each, search.names).codes);
    expect(added.filter((code) => catalogue.orderables.get(code)?.imaging !== undefined)).toEqual([]);
    expect(faultyAmong(finds)).toEqual([]);
  });

  it('adds two tests by a query that contains both names', () => {
    const own = named.filter(({ name, isAdded }) => isAdded && codesOf(plainWords(name)).size === 1);
    const pairs = own.map(({ name }, at) => `${name}, ${own[(at * 7 + 3) % own.length]?.name}`);
    const unread = pairs.filter((query) => namedTests(query, search.names).codes.length === 0);
    expect([unread, faultyAmong(pairs)]).toEqual([[], []]);
  });

  it('accepts the same names on the page as on the server', () => {
    const labels = new Map(
      tests.map(({ code, name, abbreviation }) => [code, abbreviation ? `${name} (${abbreviation})` : name]),
    );
    const labelOf = (code: string) => labels.get(code) ?? '';
    expect(readNames(writeNames(search.names, labelOf), labelOf)).toEqual(search.names);
  });
});

describe('a name of the catalogue', () => {
  it('belongs to one test only, except for the shared abbreviations CT/NG and VZV', () => {
    const shared = named.filter(({ name }) => codesOf(plainWords(name)).size > 1);
    expect([...new Set(shared.map(({ name }) => name))].toSorted()).toEqual(['CT/NG', 'VZV']);
  });
});

describe('the matches of a search', () => {
  const patient = { gender: 'female', age: 30 } as const;
  const offered = (query: string) => offeredTests({ catalogue, query, patient, search });

  it('begin with the tests that Enter adds, and contain every test that a query names', () => {
    const sample = unique
      .filter((_, at) => at % 8 === 0)
      .flatMap((name, at) => {
        const edits = [...editsOf(name)];
        return [name, edits[(at * 7919) % edits.length] ?? name];
      });
    for (const query of sample) {
      const { codes, named: decided } = offered(query);
      expect([query, [...codes].slice(0, decided.codes.length)]).toEqual([query, decided.codes]);
      const usual = [...codesOf(plainWords(query))];
      expect([query, usual.filter((code) => !codes.has(code))]).toEqual([query, []]);
    }
  });

  it('contain a panel after its tests, unless the query is the complete name of the panel', () => {
    const panels = tests.filter(({ covers }) => covers.length > 0);
    const faulty = unique.flatMap((query) => {
      const codes = [...offered(query).codes];
      return panels
        .filter(({ code }) => codes.includes(code) && !codesOf(plainWords(query)).has(code))
        .filter(({ code, covers }) => covers.some((part) => codes.indexOf(part) > codes.indexOf(code)))
        .map(({ code }) => ({ query, code }));
    });
    expect(faulty).toEqual([]);
  });
});
