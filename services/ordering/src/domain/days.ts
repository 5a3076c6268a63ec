/** Returns the number of days from an earlier day to a later day, both YYYY-MM-DD. */
export const daysBetween = (earlier: string, later: string): number =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000);

/**
 * Returns the age in whole months on a day, from a date of birth, both YYYY-MM-DD. Returns undefined if the
 * date of birth is later.
 */
export function monthsOld(today: string, birthDate: string): number | undefined {
  if (birthDate > today) return undefined;
  const [thisYear = 0, thisMonth = 0, thisDay = 0] = today.split('-').map(Number);
  const [year = 0, month = 0, day = 0] = birthDate.split('-').map(Number);
  return (thisYear - year) * 12 + (thisMonth - month) - (thisDay < day ? 1 : 0);
}

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/** Returns a typed month in two digits: `3`, `Mar` and `March` become `03`. Only pads any other text. */
export function monthTyped(typed: string): string {
  const month = typed.trim().toLowerCase();
  const at = month.length < 3 ? -1 : months.findIndex((name) => name.startsWith(month));
  return (at < 0 ? month : String(at + 1)).padStart(2, '0');
}

/** The answer to a question about a date that nobody knows. */
export const notKnown = 'Not known';

/** The day, month and year that a user typed. */
export type TypedDate = { readonly day: string; readonly month: string; readonly year: string };

type AnsweredDate = TypedDate & { readonly isUnknown: boolean };

/**
 * Returns a typed date in the format of drafts: `2026-2-28`, `Not known`, or `2026-2-28-Not known` for a form
 * with both. Dashes separate the parts, so typed dashes are replaced by spaces.
 */
export function writeTypedDate({ day, month, year, isUnknown }: AnsweredDate): string {
  const written = [year, month, day].map((part) => part.replaceAll('-', ' ')).join('-');
  if (!isUnknown) return written;
  return /^[\s-]*$/.test(written) ? notKnown : `${written}-${notKnown}`;
}

/** Reads a typed date from the format of drafts. */
export function readTypedDate(written: string): AnsweredDate {
  if (written === notKnown) return { day: '', month: '', year: '', isUnknown: true };
  const [year = '', month = '', day = '', last] = written.split('-');
  return { day, month, year, isUnknown: last === notKnown };
}
