import { american, keysOfName, type NameIndex, wordsOf } from '../../public/named-tests.js';
import { type Catalogue, type Elsewhere, isImaging, type Orderable } from './catalogue.ts';
import {
  byGroup,
  byMiddle,
  byName,
  byPart,
  bySlip,
  bySynonym,
  byWholeName,
  headsOf,
  type Match,
  rank,
  toSearchEntry,
  toSearchQuery,
} from './match-ranks.ts';
import { phraseOf } from './similar-words.ts';

/** The tests that a query, or a part of a query, finds. */
export type Meaning = {
  /** The query, or the part of it, that finds these tests. */
  readonly query: string;
  /** Codes of tests, best match first. */
  readonly codes: readonly string[];
};

/** The search over the tests of a catalogue. */
export type TestSearch = {
  /** The complete names of all tests. With these names, `namedTests` finds the tests that Enter adds. */
  readonly names: NameIndex;
  /**
   * Returns one meaning for the whole query, or one for each part of a query such as `fbc u&e lft`. Returns
   * no meaning if no test matches. For an empty query, the meaning contains the whole catalogue.
   */
  readonly find: (query: string) => readonly Meaning[];
  /** Finds services that practices request in another way. */
  readonly findElsewhere: (query: string) => FoundElsewhere;
};

export type FoundElsewhere = {
  readonly entries: readonly Elsewhere[];
  /** Whether the whole query is the name of one of the `entries`. If so, the page offers no test. */
  readonly isWhole: boolean;
};

/** Finds the codes of the tests for a query or a part of it, best match first. */
type Find = (words: readonly string[]) => readonly string[];

/** The maximum numbers of words in a query for several tests, a query with typing errors, and a name. */
const maxWords = 16;
const maxMisspeltWords = 4;
const maxWordsOfTest = 5;

/**
 * Prepares the search over a catalogue. It ignores case, accents, punctuation, American spelling, plurals and
 * word order. It accepts unfinished words and small typing errors. The most tolerant comparisons come last,
 * and only if stricter comparisons find no test.
 */
export function createTestSearch(catalogue: Catalogue): TestSearch {
  return {
    names: indexNames(catalogue),
    find: createFind(catalogue),
    findElsewhere: createFindElsewhere(catalogue),
  };
}

/** The minimum length of a query that matches the beginning of an entry's name. */
const minBeginning = 4;

function createFindElsewhere({ elsewhere }: Catalogue): TestSearch['findElsewhere'] {
  const entries = elsewhere.map((entry) => ({
    entry,
    keys: new Set([entry.name, ...(entry.synonyms ?? [])].flatMap(keysOfName)),
  }));
  return (query) => {
    const words = wordsOf(query).slice(0, maxWords);
    const whole = keysOfName(words.join(' '));
    const parts = words.flatMap((_, from) =>
      Array.from({ length: Math.min(maxWordsOfTest, words.length - from) }, (_each, more) =>
        keysOfName(words.slice(from, from + more + 1).join(' ')),
      ).flat(),
    );
    const isMeant = (keys: ReadonlySet<string>) =>
      parts.some((part) => keys.has(part)) ||
      whole.some((begun) => begun.length >= minBeginning && [...keys].some((key) => key.startsWith(begun)));
    return {
      entries: entries.filter(({ keys }) => isMeant(keys)).map(({ entry }) => entry),
      isWhole: entries.some(({ keys }) => whole.some((key) => keys.has(key))),
    };
  };
}

/**
 * Returns the codes of all tests by their complete names: name, abbreviation, code and synonyms. A synonym of
 * an imaging examination has an empty string instead of a code, because Enter adds an examination only by its
 * name, abbreviation or code. The names of a service that practices request in another way have one, too.
 */
function indexNames({ orderables, elsewhere }: Catalogue): NameIndex {
  const names = [...orderables.values()].flatMap((test) => {
    const { code, location, synonyms } = test;
    const bySynonym = isImaging(test, location) ? '' : code;
    return [
      ...[code, ...headsOf(test)].map((name) => ({ name, code })),
      ...synonyms.map((name) => ({ name, code: bySynonym })),
    ];
  });
  const others = elsewhere.flatMap(({ name, synonyms = [] }) =>
    [name, ...synonyms].map((each) => ({ name: each, code: '' })),
  );
  const keyed = [...names, ...others].flatMap(({ name, code }) =>
    keysOfName(name).map((key) => ({ key, code })),
  );
  const byKey = Map.groupBy(keyed, ({ key }) => key);
  return new Map([...byKey].map(([key, tests]) => [key, [...new Set(tests.map(({ code }) => code))]]));
}

function createFind({ orderables }: Catalogue): TestSearch['find'] {
  // The search also finds a panel by the names of the tests that it contains.
  const entries = [...orderables.values()].map((test) => {
    const parts = test.covers.flatMap((code) => orderables.get(code) ?? []);
    return toSearchEntry(test, parts);
  });
  const everything = { query: '', codes: [...orderables.keys()] };
  const find =
    (matches: readonly Match[]): Find =>
    (words) =>
      rank(toSearchQuery(words), entries, matches);
  // Returns every test that the query names, and then the panels that contain any of these tests.
  const findAll = find([...byName, ...bySynonym, ...byPart]);
  /**
   * Creates a search. If `strict` finds enough tests, the search returns the matches of `findAll`, otherwise
   * none.
   */
  const onlyIf =
    (strict: Find, isEnough = isFound): Find =>
    (words) =>
      isEnough(strict(words)) ? findAll(words) : [];
  const [named, own] = [onlyIf(find(byName)), onlyIf(find([...byName, ...bySynonym]))];
  const exact = onlyIf(find(byWholeName), (codes) => codes.length === 1);

  return (text) => {
    const words = wordsOf(text).map(american);
    if (words.length === 0) return text.trim() === '' ? [everything] : [];
    const whole = (found: Find): Meaning[] => {
      const codes = found(words);
      return isFound(codes) ? [{ query: text, codes }] : [];
    };
    const slip = find(bySlip());
    const attempts = [
      () => whole(named),
      () => several(words, exact),
      () => whole(own),
      () => several(words, own),
      () => whole(findAll),
      () => whole(find(byMiddle)),
      () => whole(slip),
      () => several(words, (some) => (isFound(own(some)) ? own(some) : slip(some)), maxMisspeltWords),
      () => whole(find(byGroup)),
    ];
    for (const attempt of attempts) {
      const meanings = attempt();
      if (meanings.length > 0) return meanings;
    }
    return [];
  };
}

const isFound = (codes: readonly string[]) => codes.length > 0;

/**
 * Reads a query as the names of several tests, each name as long as possible. Returns an empty list if a word
 * belongs to no name, or if the query is only one name.
 */
function several(words: readonly string[], find: Find, most = maxWords): Meaning[] {
  const meanings: Meaning[] = [];
  if (words.length > most) return meanings;
  let rest = words;
  while (rest.length > 0) {
    const meaning = longest(rest, find);
    if (meaning === undefined) return [];
    meanings.push(meaning);
    rest = rest.slice(meaning.query.split(' ').length);
  }
  return meanings.length > 1 ? meanings : [];
}

function longest(words: readonly string[], find: Find): Meaning | undefined {
  for (let length = Math.min(words.length, maxWordsOfTest); length > 0; length -= 1) {
    const query = words.slice(0, length).join(' ');
    // A single letter finds no test, because too many names begin with one letter.
    const codes = query.length > 1 ? find(words.slice(0, length)) : [];
    if (codes.length > 0) return { query, codes };
  }
  return undefined;
}

/** Returns whether a query is exactly the code or a name of a test. */
export function isNamedBy(
  test: Pick<Orderable, 'code' | 'name' | 'abbreviation' | 'synonyms'>,
  query: string,
) {
  const phrase = phraseOf(query);
  return [test.code, ...headsOf(test), ...test.synonyms].some((name) => phraseOf(name) === phrase);
}
