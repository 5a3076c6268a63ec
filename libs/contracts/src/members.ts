/** Reads of a payload that may have any shape: nothing here throws, and what is not there is `undefined` or empty. */

/** The member of that name, when the value is an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The most entries of a list for which the specification's tables name no limit. */
export const maxEntries = 200;

/**
 * The entries of the member of that name, when it is an array of at most `maxEntries`: a longer one is a fault
 * itself.
 */
export function entriesOf(value: unknown, name: string): readonly unknown[] {
  const member = memberOf(value, name);
  return isReadableList(member) ? member : [];
}

/** Whether the value is an array whose entries are worth a look. The schemas report a longer one. */
export function isReadableList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= maxEntries;
}

/** The texts among these values. */
export function textsAmong(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** The length of a text in Unicode code points, in which the specification's limits are counted. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
