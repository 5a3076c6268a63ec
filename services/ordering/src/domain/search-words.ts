/**
 * Returns the words of a text for comparison: `Hæmoglobin A1c`, `U & E` become `haemoglobin`, `a1c`, `ue`.
 */
export function wordsOf(text: string): string[] {
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

/** Returns a word as it is typed in American spelling: `hemoglobin`. */
export const folded = (word: string) => word.replace(/ae|oe/g, 'e');

/** Returns the words of a text in American spelling, joined: `U & E` and `ue` are the same. */
export const phraseOf = (text: string) => wordsOf(text).map(folded).join('');

/**
 * Returns both spellings: `haemoglobin` is found by `hem`, by `haem` (which a query folds to `hem`) and by
 * `ha`.
 */
export const bothSpellings = (words: readonly string[]) => [...new Set([...words, ...words.map(folded)])];

/** Returns a word without the s of its plural. */
export const singular = (word: string) => (word.length > 2 && word.endsWith('s') ? word.slice(0, -1) : word);
