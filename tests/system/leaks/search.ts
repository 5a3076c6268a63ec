/** Where no patient, secret or token may be. */
export type Place =
  | 'a log'
  | 'a span'
  | 'a metric'
  | 'a URL'
  | 'a command to Redis'
  | 'a value in Redis'
  | 'an event'
  | 'an audit row'
  | 'an outbox row';

/** Users may be in the other places: events name them, for the audit trail. */
const withoutUsers: ReadonlySet<Place> = new Set(['a log', 'a span', 'a metric']);

/** The values of a run that must be hidden. */
export type Hidden = {
  /** Of patients, in every form in which they could be written. */
  readonly patients: readonly string[];
  readonly users: readonly string[];
  /** Tokens, verifiers, cookies and client secrets. */
  readonly secrets: readonly string[];
};

/**
 * Searches texts for whole values: with no letter or digit beside them, as eight digits of a time in
 * nanoseconds are no date of birth. Returns a sentence for each value and place.
 */
export function findLeaks(texts: readonly (readonly [Place, string])[], hidden: Hidden): string[] {
  const everywhere = patternOf([...hidden.patients, ...hidden.secrets]);
  const users = patternOf(hidden.users);
  const found = texts.flatMap(([place, text]) =>
    [...text.matchAll(everywhere), ...(withoutUsers.has(place) ? text.matchAll(users) : [])].map(
      ({ 0: value, index }) => {
        const before = JSON.stringify(text.slice(Math.max(0, index - 60), index));
        return `${value.slice(0, 3)}… (${value.length} characters) is in ${place}, after ${before}`;
      },
    ),
  );
  return [...new Set(found)];
}

/** An escape of a URL, of JSON or of MONITOR ends with a letter or a digit, and is no part of the value. */
const start = String.raw`(?:(?<![\p{L}\p{N}])|(?<=%[\da-f]{2}|\\[bfnrt]|\\x[\da-f]{2}|\\u[\da-f]{4}))`;
const end = String.raw`(?![\p{L}\p{N}])`;

/** Matches the values in small and capital letters, and as they are in a URL. */
function patternOf(values: readonly string[]): RegExp {
  const written = [...new Set(values)].map((value) =>
    value
      .replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
      .replaceAll(' ', '(?: |\\+|%20)')
      .replaceAll('@', '(?:@|%40)'),
  );
  return new RegExp(`${start}(?:${written.join('|')})${end}`, 'giu');
}
