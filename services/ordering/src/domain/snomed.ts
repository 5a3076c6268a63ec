/** The multiplication table of the dihedral group D5. */
const product = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
  [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
  [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
  [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
  [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
  [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
  [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
  [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
  [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];
/** The permutation of a digit. The algorithm applies it once for each position. */
const permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/**
 * Returns whether a text is a valid concept id: 6 to 18 digits, the partition identifier of concepts, and a
 * Verhoeff check digit (SNOMED CT Release File Specification, SNOMED CT Identifiers).
 */
export function isConceptId(text: string): boolean {
  if (!/^[1-9]\d{5,17}$/.test(text) || !/(?:00|10)\d$/.test(text)) return false;
  const check = text
    .split('')
    .toReversed()
    .reduce((sum, digit, place) => {
      let permuted = Number(digit);
      for (let times = 0; times < place % 8; times += 1) permuted = permutation[permuted] ?? 0;
      return product[sum]?.[permuted] ?? -1;
    }, 0);
  return check === 0;
}
