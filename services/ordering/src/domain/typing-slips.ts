/** Returns whether a typed word may be a misspelling of another word. */
export type Nearness = (typed: string, word: string) => boolean;

/** Caches the comparison of two words during a search, because a word may be in the names of many tests. */
export function rememberedNearness(): Nearness {
  const known = new Map<string, Map<string, boolean>>();
  return (typed, word) => {
    const ofTyped = known.get(typed) ?? new Map<string, boolean>();
    known.set(typed, ofTyped);
    const found = ofTyped.get(word) ?? isNear(typed, word);
    ofTyped.set(word, found);
    return found;
  };
}

/**
 * Returns whether a typed word may be a misspelling of a word or of its beginning. A word of three letters
 * may only have two swapped letters, because a changed letter makes another abbreviation: ECG is not a
 * misspelt HCG.
 */
function isNear(typed: string, word: string): boolean {
  if (typed.length < 3) return typed === word;
  if (typed.length === 3) return typed === word || isSwap(typed, word);
  const allowed = typed.length < 7 ? 1 : 2;
  return [word, word.slice(0, typed.length), word.slice(0, typed.length + 1)].some(
    (target) => Math.abs(target.length - typed.length) <= allowed && isWithin(allowed, typed, target),
  );
}

const isSwap = ([first = '', second = '', third = '']: string, word: string) =>
  word === second + first + third || word === first + third + second;

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
    // If two consecutive rows exceed `allowed`, every later row does too, because each row is computed from
    // the two rows before it.
    if (current.every((slips) => slips > allowed) && last.every((slips) => slips > allowed)) return false;
    [beforeLast, last] = [last, current];
  }
  return at(last, other.length) <= allowed;
}

const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY;
