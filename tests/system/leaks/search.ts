/** The places that must contain no patient, secret or token. */
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

/** The places that must contain no user. Events name users for the audit trail. */
const withoutUsers: ReadonlySet<Place> = new Set(['a log', 'a span', 'a metric']);

/** The values of a run that must be hidden. */
export type Hidden = {
  /** The values of patients, in every format in which they could be written. */
  readonly patients: readonly string[];
  readonly users: readonly string[];
  /** Tokens, verifiers, cookies and client secrets. */
  readonly secrets: readonly string[];
};

/**
 * Searches texts for whole values, with no letter or digit next to them. For example, eight digits of a
 * timestamp in nanoseconds are not a date of birth. Returns one message for each value and place.
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

/**
 * Matches the position before a value: no letter or digit precedes the value, except as the end of an escape
 * sequence of a URL, JSON or MONITOR.
 */
const start = String.raw`(?:(?<![\p{L}\p{N}])|(?<=%[\da-f]{2}|\\[bfnrt]|\\x[\da-f]{2}|\\u[\da-f]{4}))`;
const end = String.raw`(?![\p{L}\p{N}])`;

/** Matches the values case-insensitively, and as URL-encoded. */
function patternOf(values: readonly string[]): RegExp {
  const written = [...new Set(values)].map((value) =>
    value
      .replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
      .replaceAll(' ', '(?: |\\+|%20)')
      .replaceAll('@', '(?:@|%40)'),
  );
  return new RegExp(`${start}(?:${written.join('|')})${end}`, 'giu');
}
