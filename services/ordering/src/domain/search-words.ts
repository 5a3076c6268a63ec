import { american, wordsOf } from '../../public/named-tests.js';

/** Returns the words of a text in American spelling, joined: `U & E` and `ue` are the same. */
export const phraseOf = (text: string) => wordsOf(text).map(american).join('');

/**
 * Returns words as written and in American spelling: `haemoglobin` is found by `hem`, by `haem` (which a
 * query folds to `hem`) and by `ha`.
 */
export const bothSpellings = (words: readonly string[]) => [...new Set([...words, ...words.map(american)])];

/** Returns a word without the s of its plural. */
export const singular = (word: string) => (word.length > 2 && word.endsWith('s') ? word.slice(0, -1) : word);
