/** Reads payloads of any shape: nothing here throws, and an absent member is `undefined` or empty. */

/** Returns the member of that name if the value is an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The maximum number of entries of a list for which the specification's tables name no limit. */
export const maxEntries = 200;

/**
 * Returns the entries of the member of that name if it is an array of at most `maxEntries`: a longer array is
 * an error itself.
 */
export function entriesOf(value: unknown, name: string): readonly unknown[] {
  const member = memberOf(value, name);
  return isReadableList(member) ? member : [];
}

/** Returns whether the value is an array short enough to check. The schemas report a longer array. */
export function isReadableList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= maxEntries;
}

/** Returns the texts among these values. */
export function textsAmong(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Returns the length of a text in Unicode code points, the unit of the specification's limits. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
