import type { Catalogue, Orderable } from './catalogue.ts';

/** Finds the codes of the tests that a query means; every code for an empty query. */
export type TestSearch = (query: string) => ReadonlySet<string>;

type Entry = {
  readonly code: string;
  /** The single words of all names of the test. */
  readonly words: readonly string[];
  /** Each of its names without spaces: `U & E` and `ue` are the same. */
  readonly phrases: readonly string[];
};

type Query = { readonly words: readonly string[]; readonly phrase: string };

/**
 * Prepares the search over a catalogue. It ignores case, accents, punctuation, American spelling, plurals,
 * word order and unfinished words. If nothing matches, it searches within words, and finally allows small
 * typing errors. The more tolerant steps come last, so that a good query does not return near misses.
 */
export function createTestSearch({ orderables }: Catalogue): TestSearch {
  const entries = [...orderables.values()].map((test) => toEntry(test, orderables));
  const everything = new Set(orderables.keys());
  return (text) => {
    const words = wordsOf(text).map(folded);
    // A repeated word is searched once.
    const query = { words: [...new Set(words)], phrase: words.join('') };
    if (query.words.length === 0) return isBlank(text) ? everything : new Set();
    for (const matches of [beginsLike, contains, looksLike(rememberedNearness())]) {
      const found = entries.filter((entry) => matches(query, entry));
      if (found.length > 0) return new Set(found.map(({ code }) => code));
    }
    return new Set();
  };
}

/** Returns the entry of a test. A panel is also found by the names of the tests that it contains. */
function toEntry(test: Orderable, orderables: Catalogue['orderables']): Entry {
  const { code, group, covers } = test;
  const parts = covers.flatMap((part) => orderables.get(part) ?? []);
  const names = [code, ...[test, ...parts].flatMap(namesOf)];
  const phrases = bothSpellings(names.map((each) => wordsOf(each).join('')));
  const words = bothSpellings([...names, group.name].flatMap(wordsOf));
  return { code, words: [...new Set([...words, ...phrases])], phrases };
}

const namesOf = ({ name, abbreviation, synonyms }: Orderable) => [
  name,
  ...(abbreviation === undefined ? [] : [abbreviation]),
  ...synonyms,
];

/**
 * Returns both spellings: `haemoglobin` is found by `hem`, by `haem` (which a query folds to `hem`) and by
 * `ha`.
 */
const bothSpellings = (words: readonly string[]) => [...new Set([...words, ...words.map(folded)])];

const folded = (word: string) => word.replace(/ae|oe/g, 'e');

const isBlank = (text: string) => text.trim() === '';

/**
 * Returns the words of a text for comparison: `Hæmoglobin A1c`, `U & E` become `haemoglobin`, `a1c`, `ue`.
 */
function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('æ', 'ae')
      .replaceAll('œ', 'oe')
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .replace(/['’.-]/g, '')
      // Initials joined by a sign are one word: U&E, C&S, T3/T4, "u and e".
      .replace(/(?<=(?<![a-z0-9])[a-z0-9]{1,2})\s*(?:[&+/]|\sand\s)\s*(?=[a-z0-9]{1,2}(?![a-z0-9]))/g, '')
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '' && word !== 'and')
  );
}

const singular = (word: string) => (word.length > 2 && word.endsWith('s') ? word.slice(0, -1) : word);

function beginsLike({ words, phrase }: Query, entry: Entry): boolean {
  if (entry.phrases.some((each) => each === phrase || each === singular(phrase))) return true;
  // A single letter in a query of several words is a whole word: the A of "hep a" is not the beginning of
  // "antibody".
  const isLoneLetter = (word: string) => words.length > 1 && word.length === 1;
  return words.every((word) =>
    entry.words.some((each) =>
      isLoneLetter(word) ? each === word : each.startsWith(word) || each.startsWith(singular(word)),
    ),
  );
}

function contains({ words }: Query, entry: Entry): boolean {
  return words.every((word) => entry.words.some((each) => each.includes(singular(word))));
}

type Nearness = (typed: string, word: string) => boolean;

function looksLike(isSlipAway: Nearness) {
  return ({ words, phrase }: Query, entry: Entry): boolean =>
    entry.phrases.some((each) => isSlipAway(phrase, each)) ||
    words.every((word) => entry.words.some((each) => each.startsWith(word) || isSlipAway(word, each)));
}

/** Caches the comparison of two words during a search: most words are in the names of many tests. */
function rememberedNearness(): Nearness {
  const known = new Map<string, Map<string, boolean>>();
  return (typed, word) => {
    const ofTyped = known.get(typed) ?? new Map<string, boolean>();
    known.set(typed, ofTyped);
    const found = ofTyped.get(word) ?? isNear(typed, word);
    ofTyped.set(word, found);
    return found;
  };
}

/** Returns whether a typed word is one slip away from a word, or from its beginning. */
function isNear(typed: string, word: string): boolean {
  const allowed = typed.length < 3 ? 0 : typed.length < 7 ? 1 : 2;
  if (allowed === 0) return typed === word;
  return [word, word.slice(0, typed.length), word.slice(0, typed.length + 1)].some(
    (target) => Math.abs(target.length - typed.length) <= allowed && isWithin(allowed, typed, target),
  );
}

/**
 * Returns whether at most `allowed` letters were added, dropped, changed or swapped with their neighbour
 * (optimal string alignment distance).
 */
function isWithin(allowed: number, one: string, other: string): boolean {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped && row > 1 && column > 1 ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    // Each later row is computed from these two and cannot be smaller.
    if (current.every((slips) => slips > allowed) && last.every((slips) => slips > allowed)) return false;
    [beforeLast, last] = [last, current];
  }
  return at(last, other.length) <= allowed;
}

const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY;
