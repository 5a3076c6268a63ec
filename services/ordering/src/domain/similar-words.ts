import { american, wordsOf } from '../../public/named-tests.js';
import { isWord, type RequestSearch, type SoughtWord } from './request-search.ts';

/** A word of a search, and the words that the user may have meant. */
export type Misspelt = { readonly word: SoughtWord; readonly others: readonly SoughtWord[] };

/**
 * Returns whether a search tolerates a typing error in a word: if the word has 5 to 24 letters and may be the
 * beginning of a longer word. One error often makes a shorter word a different word.
 */
const isSpeltOut = ({ word, isWhole = false }: SoughtWord) => !isWhole && /^[a-z]{5,24}$/.test(word);

/** The maximum number of misspelt words in a search, because each word has hundreds of alternatives. */
const maxWords = 3;

const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));

/** Returns the words of a search that may have a typing error. */
export const misspeltIn = (search: RequestSearch): Misspelt[] =>
  search
    .flatMap((term) => term.flatMap((words) => (words.length === 1 ? words : [])).find(isSpeltOut) ?? [])
    .slice(0, maxWords)
    .map((word) => ({ word, others: oneErrorAway(word.word) }));

/** Adds the alternatives of misspelt words to a search. */
export const withOthers = (search: RequestSearch, misspelt: readonly Misspelt[]): RequestSearch =>
  search.map((term) => {
    const found = misspelt.find(({ word }) => term.some(([first]) => first === word));
    return found === undefined ? term : [...term, ...found.others.map((other) => [other])];
  });

/**
 * Returns the words that result if one letter is dropped, added, changed or swapped with its neighbour. A
 * result without the last letter, or with another last letter, matches only a whole word. Other results also
 * match as the beginning of a word.
 */
function oneErrorAway(word: string): SoughtWord[] {
  const last = word.length - 1;
  const stem = word.slice(0, last);
  const beginnings = Array.from({ length: last }, (_, place) => {
    const [before, letter, next] = [word.slice(0, place), word.charAt(place), word.charAt(place + 1)];
    const after = word.slice(place + 1);
    return [
      before + after,
      before + next + letter + after.slice(1),
      ...letters.flatMap((other) => [before + other + letter + after, before + other + after]),
    ];
  });
  const inserted = letters.map((letter) => stem + letter + word.slice(last));
  const whole = ['', ...letters].map((letter) => stem + letter);
  const others = new Set([...beginnings.flat(), ...inserted]);
  return [
    ...[...others].filter((other) => other !== word).map((other) => ({ word: other })),
    ...whole.filter((other) => other !== word).map(isWord),
  ];
}

/** Returns the words of a text in American spelling, without spaces: `ue` for both `U & E` and `ue`. */
export const phraseOf = (text: string) => wordsOf(text).map(american).join('');

/**
 * Returns words as they are and in American spelling. The words of a query are in American spelling (`hem`
 * for `haem`), so that `hem`, `haem` and `ha` all find `haemoglobin`.
 */
export const bothSpellings = (words: readonly string[]) => [...new Set([...words, ...words.map(american)])];

/** Returns a word of at least three letters without a final s. Returns a shorter word unchanged. */
export const singular = (word: string) => (word.length > 2 && word.endsWith('s') ? word.slice(0, -1) : word);
