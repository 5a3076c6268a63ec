import { american, wordsOf } from '../../public/named-tests.js';

/** Returns the words of a text in American spelling, without spaces: `ue` for both `U & E` and `ue`. */
export const phraseOf = (text: string) => wordsOf(text).map(american).join('');

/**
 * Returns words as they are and in American spelling. The words of a query are in American spelling (`hem`
 * for `haem`), so that `hem`, `haem` and `ha` all find `haemoglobin`.
 */
export const bothSpellings = (words: readonly string[]) => [...new Set([...words, ...words.map(american)])];

/** Returns a word of at least three letters without a final s. Returns a shorter word unchanged. */
export const singular = (word: string) => (word.length > 2 && word.endsWith('s') ? word.slice(0, -1) : word);
