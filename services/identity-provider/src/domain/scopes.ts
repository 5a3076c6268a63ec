const scopeForm = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/;

/** The words of a scope, each once and in order (RFC 6749 section 3.3); undefined when it is not of that form. */
export function readScope(scope: string): readonly string[] | undefined {
  return scopeForm.test(scope) ? [...new Set(scope.split(' '))] : undefined;
}

/** The words that were asked for, when all of them are among those that may be given; undefined otherwise. */
export function narrowScope(asked: string, mayBeGiven: readonly string[]): readonly string[] | undefined {
  const words = readScope(asked);
  return words?.every((word) => mayBeGiven.includes(word)) === true ? words : undefined;
}
