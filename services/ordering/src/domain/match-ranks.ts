import type { Orderable } from './catalogue.ts';
import { bothSpellings, folded, singular, wordsOf } from './search-words.ts';
import { type Nearness, rememberedNearness } from './typing-slips.ts';

/** A name of a test, prepared for comparison. */
export type SearchName = {
  /** The name without spaces, in both spellings: `ureaandelectrolytes`. */
  readonly phrases: readonly string[];
  /** Its words in American spelling, in their order. */
  readonly sequence: readonly string[];
  /** Its words in both spellings, and its phrases. */
  readonly words: readonly string[];
};

/** Names with all their words. */
export type SearchNames = { readonly names: readonly SearchName[]; readonly words: readonly string[] };

/** The names by which a search finds a test. */
export type SearchEntry = {
  readonly code: string;
  readonly title: SearchName;
  readonly synonyms: readonly SearchName[];
  /** All names of the tests that a panel contains; empty if it is no panel. */
  readonly parts: readonly SearchName[];
  /** The name and the abbreviation. */
  readonly heads: SearchNames;
  /** These and the synonyms. */
  readonly own: SearchNames;
  /** These and the parts. */
  readonly all: SearchNames;
  /** These and the group's name. */
  readonly withGroup: SearchNames;
};

/** The words of a query, in lower case and American spelling. Without words, it matches everything. */
export type SearchQuery = {
  /** Each word once. */
  readonly words: readonly string[];
  /** All its words, joined. */
  readonly phrase: string;
};

/** Returns whether a query means a test, in one of the ways that are ranked. */
export type Match = (query: SearchQuery, entry: SearchEntry) => boolean;

type Named = Pick<Orderable, 'code' | 'name' | 'abbreviation' | 'synonyms'>;

/** Prepares the names of a test, with those of the tests that it contains. */
export function toSearchEntry(test: Named, parts: readonly Named[], group: string): SearchEntry {
  const heads = [test.name, ...(test.abbreviation === undefined ? [] : [test.abbreviation])];
  const own = [...heads, ...test.synonyms];
  const all = [...own, ...parts.flatMap(namesOf)];
  return {
    code: test.code,
    title: toSearchName(test.name),
    synonyms: test.synonyms.map(toSearchName),
    parts: parts.flatMap(namesOf).map(toSearchName),
    heads: toSearchNames(heads),
    own: toSearchNames(own),
    all: toSearchNames(all),
    withGroup: toSearchNames([...all, group]),
  };
}

/** Returns all names of a test: its name, its abbreviation and its synonyms. */
export const namesOf = ({ name, abbreviation, synonyms }: Named) => [
  name,
  ...(abbreviation === undefined ? [] : [abbreviation]),
  ...synonyms,
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
    sequence: words.map(folded),
    words: [...new Set([...bothSpellings(words), ...phrases])],
  };
}

/** Prepares the words of a query. */
export const toSearchQuery = (words: readonly string[]): SearchQuery => ({
  words: [...new Set(words)],
  phrase: words.join(''),
});

const isAbbreviation: Match = ({ phrase }, { code, heads: { names } }) =>
  phrase === code.toLowerCase() || names.slice(1).some((name) => isExactly(phrase, name));

const isTitle: Match = ({ phrase }, { title }) => isExactly(phrase, title);

const isSynonym: Match = ({ phrase }, { synonyms }) => synonyms.some((name) => isExactly(phrase, name));

/**
 * The ways in which a query names a test itself, best first. An exact synonym comes before the beginning of a
 * name: synonyms include abbreviations such as Hb and TSH, and TSH is not the TSH receptor antibody.
 */
export const byName: readonly Match[] = [
  isAbbreviation,
  isTitle,
  isSynonym,
  startsTitle,
  ({ words, phrase }, { heads }) =>
    words.length === 1 && heads.names.some(({ phrases }) => phrases.some((each) => each.startsWith(phrase))),
  ({ words }, { heads }) => words.every((word) => heads.words.some((each) => isSameWord(word, each))),
  (query, { heads }) => beginsWords(query, heads),
];

/** The ways in which a query is the whole of a name. */
export const byWholeName: readonly Match[] = [isAbbreviation, isTitle, isSynonym];

/** The ways in which a query names a test with the help of its synonyms; panels, which name parts, last. */
export const bySynonym: readonly Match[] = [
  (query, { parts, own }) => parts.length === 0 && beginsWords(query, own),
  (query, { own }) => beginsWords(query, own),
];

/** The ways in which a query names a part of a panel. */
export const byPart: readonly Match[] = [
  ({ phrase }, { parts }) => parts.some((name) => isExactly(phrase, name)),
  (query, { all }) => beginsWords(query, all),
];

/** The ways in which a query is in the middle of words. */
export const byMiddle: readonly Match[] = [
  ({ words }, { all }) => words.every((word) => all.words.some((each) => each.includes(singular(word)))),
];

/** The ways in which a query names a group, and thus no test in particular. */
export const byGroup: readonly Match[] = [(query, { withGroup }) => beginsWords(query, withGroup)];

/** Creates the ways in which a query with typing errors names a test. They are for one search. */
export function bySlip(): readonly Match[] {
  const isSlipAway = rememberedNearness();
  return [
    (query, { heads }) => looksLike(query, heads, isSlipAway),
    (query, { own }) => looksLike(query, own, isSlipAway),
    (query, { all }) => looksLike(query, all, isSlipAway),
  ];
}

/** Returns the codes of the tests that a query means in one of some ways, best first; equal ones in order. */
export function rank(query: SearchQuery, entries: readonly SearchEntry[], matches: readonly Match[]) {
  return entries
    .map((entry) => ({ code: entry.code, at: matches.findIndex((match) => match(query, entry)) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at)
    .map(({ code }) => code);
}

const isExactly = (phrase: string, { phrases }: SearchName) =>
  phrases.some((each) => each === phrase || each === singular(phrase));

const isSameWord = (typed: string, word: string) => singular(typed) === singular(word);

/** Returns whether the name begins with the words of the query, all of them complete. */
function startsTitle({ words }: SearchQuery, { title }: SearchEntry): boolean {
  return words.every((word, index) => isSameWord(word, title.sequence[index] ?? ''));
}

function beginsWords({ words }: SearchQuery, names: SearchNames): boolean {
  // A single letter in a query of several words is a whole word: the A of "hep a" is not the beginning of
  // "antibody".
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
