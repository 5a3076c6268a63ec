const scopeForm = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/;

/**
 * Returns the words of a scope, each once and in order (RFC 6749 section 3.3), or undefined if the scope is
 * malformed.
 */
export function readScope(scope: string): readonly string[] | undefined {
  return scopeForm.test(scope) ? [...new Set(scope.split(' '))] : undefined;
}

/** Returns the words of the requested scope if all of them may be granted. Otherwise returns undefined. */
export function narrowScope(requested: string, mayBeGiven: readonly string[]): readonly string[] | undefined {
  const words = readScope(requested);
  return words?.every((word) => mayBeGiven.includes(word)) === true ? words : undefined;
}
