import type { Catalogue, Orderable } from './catalogue.ts';
import {
  byGroup,
  byMiddle,
  byName,
  byPart,
  bySlip,
  bySynonym,
  byWholeName,
  type Match,
  namesOf,
  rank,
  toSearchEntry,
  toSearchQuery,
} from './match-ranks.ts';
import { folded, phraseOf, wordsOf } from './search-words.ts';

/** What a query, or a part of it, means. */
export type Meaning = {
  /** The words of the query with this meaning. */
  readonly query: string;
  /** Codes of tests, best first. */
  readonly codes: readonly string[];
  /** The query names tests, and not only a group of the catalogue, so its first test is what is meant. */
  readonly isNamed: boolean;
};

/**
 * Finds what a query means: one meaning, or one for each test in a query such as `fbc u&e lft`. None if it
 * matches nothing; the whole catalogue for an empty query.
 */
export type TestSearch = (query: string) => readonly Meaning[];

/** How a part of a query is searched: codes of tests, best first. */
type Find = (words: readonly string[]) => readonly string[];

/** The most words that a query of several tests has, with typing errors, and for one of them. */
const maxWords = 16;
const maxMisspeltWords = 4;
const maxWordsOfTest = 5;

/**
 * Prepares the search over a catalogue. It ignores case, accents, punctuation, American spelling, plurals,
 * word order and unfinished words, and allows small typing errors. The more tolerant steps come last, so that
 * a good query does not return near misses.
 */
export function createTestSearch({ orderables }: Catalogue): TestSearch {
  // A panel is also found by the names of the tests that it contains.
  const entries = [...orderables.values()].map((test) => {
    const parts = test.covers.flatMap((code) => orderables.get(code) ?? []);
    return toSearchEntry(test, parts, test.group.name);
  });
  const everything = { query: '', codes: [...orderables.keys()], isNamed: false };
  const find =
    (matches: readonly Match[]): Find =>
    (words) =>
      rank(toSearchQuery(words), entries, matches);
  // Everything that names a test is shown, and after it the panels that contain such a test.
  const findAll = find([...byName, ...bySynonym, ...byPart]);
  /** Returns what names a test, if one of the tests is named in a stricter way. */
  const onlyIf =
    (strict: Find, isEnough = isFound): Find =>
    (words) =>
      isEnough(strict(words)) ? findAll(words) : [];
  const [named, own] = [onlyIf(find(byName)), onlyIf(find([...byName, ...bySynonym]))];
  const exact = onlyIf(find(byWholeName), (codes) => codes.length === 1);

  return (text) => {
    const words = wordsOf(text).map(folded);
    if (words.length === 0) return text.trim() === '' ? [everything] : [];
    const whole = (found: Find, isNamed = true): Meaning[] => {
      const codes = found(words);
      return isFound(codes) ? [{ query: text, codes, isNamed }] : [];
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
      () => whole(find(byGroup), false),
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
 * Reads a query as the names of several tests, each as long as possible. Returns nothing if a word is left
 * over, or if it is only one test.
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
    // A single letter begins too many names.
    const codes = query.length > 1 ? find(words.slice(0, length)) : [];
    if (codes.length > 0) return { query, codes, isNamed: true };
  }
  return undefined;
}

/** Returns whether a query is exactly the code, or one of the names, of a test. */
export function isNamedBy(
  test: Pick<Orderable, 'code' | 'name' | 'abbreviation' | 'synonyms'>,
  query: string,
) {
  const phrase = phraseOf(query);
  return [test.code, ...namesOf(test)].some((name) => phraseOf(name) === phrase);
}
