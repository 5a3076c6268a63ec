import { american, wordsOf } from '../../public/named-tests.js';
import type { Orderable } from './catalogue.ts';
import { bothSpellings, singular } from './similar-words.ts';
import { type Nearness, rememberedNearness } from './typing-slips.ts';

/** A name of a test, prepared for comparison. */
export type SearchName = {
  /** The name without spaces, in British and American spelling: `ureaandelectrolytes`. */
  readonly phrases: readonly string[];
  /** The words of the name in American spelling, in their order. */
  readonly sequence: readonly string[];
  /** The words of the name in British and American spelling, and `phrases`. */
  readonly words: readonly string[];
};

/** Several names, and the words of all these names. */
export type SearchNames = { readonly names: readonly SearchName[]; readonly words: readonly string[] };

/** The names by which a search finds a test. */
export type SearchEntry = {
  readonly code: string;
  readonly title: SearchName;
  readonly synonyms: readonly SearchName[];
  /** The words that find the test but do not name it. */
  readonly finds: readonly SearchName[];
  /** The codes of the tests that a panel contains; empty for a single test. */
  readonly covers: readonly string[];
  readonly parts: readonly SearchName[];
  readonly heads: SearchNames;
  /** All names and words of the test itself: `heads`, `synonyms` and `finds`. */
  readonly own: SearchNames;
  /** The names in `own`, and the names of the tests that a panel contains. */
  readonly all: SearchNames;
  /** The names in `all`, and the name of the test's group. */
  readonly withGroup: SearchNames;
};

/** The words of a query, in lower case and American spelling. A query without words matches every test. */
export type SearchQuery = {
  /** The different words of the query. */
  readonly words: readonly string[];
  /** All words of the query, joined without spaces. */
  readonly phrase: string;
};

/** Returns whether a query matches a test by one criterion. */
export type Match = (query: SearchQuery, entry: SearchEntry) => boolean;

type Named = Pick<Orderable, 'code' | 'name' | 'abbreviation' | 'synonyms' | 'finds'>;

/** Prepares the names of a test for comparison; for a panel, also the names of its parts. */
export function toSearchEntry(
  test: Named & Pick<Orderable, 'covers' | 'group'>,
  parts: readonly Named[],
): SearchEntry {
  const heads = headsOf(test);
  const own = [...heads, ...test.synonyms, ...test.finds];
  const partNames = parts.flatMap((part) => [...headsOf(part), ...part.synonyms, ...part.finds]);
  const all = [...own, ...partNames];
  return {
    code: test.code,
    title: toSearchName(test.name),
    synonyms: test.synonyms.map(toSearchName),
    finds: test.finds.map(toSearchName),
    covers: test.covers,
    parts: partNames.map(toSearchName),
    heads: toSearchNames(heads),
    own: toSearchNames(own),
    all: toSearchNames(all),
    withGroup: toSearchNames([...all, test.group.name]),
  };
}

/** Returns the name of a test, and its abbreviation if it has one. */
export const headsOf = ({ name, abbreviation }: Pick<Orderable, 'name' | 'abbreviation'>) => [
  name,
  ...(abbreviation === undefined ? [] : [abbreviation]),
];

function toSearchNames(texts: readonly string[]): SearchNames {
  const names = texts.map(toSearchName);
  return { names, words: [...new Set(names.flatMap(({ words }) => words))] };
}

function toSearchName(text: string): SearchName {
  const words = wordsOf(text);
  const phrases = bothSpellings([words.join('')]);
  return {
    phrases,
    sequence: words.map(american),
    words: [...new Set([...bothSpellings(words), ...phrases])],
  };
}

/** Prepares the words of a query for comparison. */
export const toSearchQuery = (words: readonly string[]): SearchQuery => ({
  words: [...new Set(words)],
  phrase: words.join(''),
});

const isAbbreviation: Match = ({ phrase }, { code, heads: { names } }) =>
  phrase === code.toLowerCase() || names.slice(1).some((name) => isExactly(phrase, name));

const isTitle: Match = ({ phrase }, { title }) => isExactly(phrase, title);

const isSynonym: Match = ({ phrase }, { synonyms }) => synonyms.some((name) => isExactly(phrase, name));

/** The criteria for a query that is a complete name of a test. */
export const byWholeName: readonly Match[] = [isTitle, isAbbreviation, isSynonym];

/**
 * The criteria for a query that names the test itself, best match first. An exact synonym ranks above the
 * beginning of a name, because synonyms include abbreviations. The synonym TSH must not rank below the name
 * “TSH receptor antibody”.
 */
export const byName: readonly Match[] = [
  ...byWholeName,
  startsTitle,
  ({ words }, { heads }) => words.every((word) => heads.words.some((each) => isSameWord(word, each))),
  ({ phrase }, { finds }) => finds.some((name) => isExactly(phrase, name)),
  ({ words, phrase }, { heads }) =>
    words.length === 1 && heads.names.some(({ phrases }) => phrases.some((each) => each.startsWith(phrase))),
  (query, { heads }) => beginsWords(query, heads),
];

/** The criteria for a query that matches the beginnings of words in any name of a test. Panels rank last. */
export const bySynonym: readonly Match[] = [
  (query, { parts, own }) => parts.length === 0 && beginsWords(query, own),
  (query, { own }) => beginsWords(query, own),
];

/** The criteria for a query that names a test in a panel. */
export const byPart: readonly Match[] = [
  ({ phrase }, { parts }) => parts.some((name) => isExactly(phrase, name)),
  (query, { all }) => beginsWords(query, all),
];

/** The criteria for a query that matches the middle of words. */
export const byMiddle: readonly Match[] = [
  ({ words }, { all }) => words.every((word) => all.words.some((each) => each.includes(singular(word)))),
];

/** The criteria for a query that may name a group of the catalogue, not one particular test. */
export const byGroup: readonly Match[] = [(query, { withGroup }) => beginsWords(query, withGroup)];

/**
 * Creates the criteria for a query that names a test with typing errors. The criteria cache comparisons, so
 * each search needs new criteria.
 */
export function bySlip(): readonly Match[] {
  const isSlipAway = rememberedNearness();
  return [
    (query, { heads }) => looksLike(query, heads, isSlipAway),
    (query, { own }) => looksLike(query, own, isSlipAway),
    (query, { all }) => looksLike(query, all, isSlipAway),
  ];
}

/**
 * Returns the codes of the tests that a query matches, best match first. Tests that match by the same
 * criterion keep their order. A panel comes after its tests, unless the query is its complete name.
 */
export function rank(query: SearchQuery, entries: readonly SearchEntry[], matches: readonly Match[]) {
  const found = entries
    .map((entry) => ({ entry, at: matches.findIndex((match) => match(query, entry)) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at)
    .map(({ entry }) => entry);
  const codes = found.map(({ code }) => code);
  const isNamed = (entry: SearchEntry) => byWholeName.some((match) => match(query, entry));
  for (const { code, covers } of found.filter((entry) => entry.covers.length > 0 && !isNamed(entry))) {
    const last = Math.max(...covers.map((part) => codes.indexOf(part)));
    const at = codes.indexOf(code);
    if (last > at) codes.splice(last, 0, ...codes.splice(at, 1));
  }
  return codes;
}

const isExactly = (phrase: string, { phrases }: SearchName) =>
  phrases.some((each) => each === phrase || each === singular(phrase));

const isSameWord = (typed: string, word: string) => singular(typed) === singular(word);

function startsTitle({ words }: SearchQuery, { title }: SearchEntry): boolean {
  return words.every((word, index) => isSameWord(word, title.sequence[index] ?? ''));
}

function beginsWords({ words }: SearchQuery, names: SearchNames): boolean {
  // A single letter in a query of several words is a whole word: the A of "hep a" is not the
  // beginning of "antibody".
  const isLoneLetter = (word: string) => words.length > 1 && word.length === 1;
  return words.every((word) =>
    names.words.some((each) =>
      isLoneLetter(word) ? each === word : each.startsWith(word) || each.startsWith(singular(word)),
    ),
  );
}

function looksLike({ words, phrase }: SearchQuery, { names, words: all }: SearchNames, isSlipAway: Nearness) {
  return (
    names.some(({ phrases }) => phrases.some((each) => isSlipAway(phrase, each))) ||
    words.every((word) => all.some((each) => each.startsWith(word) || isSlipAway(word, each)))
  );
}
