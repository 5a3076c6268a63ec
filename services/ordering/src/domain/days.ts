/** Returns how many days one day, YYYY-MM-DD, is after another. */
export const daysBetween = (earlier: string, later: string): number =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000);

/**
 * Returns the whole months from a date of birth to a day, both YYYY-MM-DD; undefined if the birth is later.
 */
export function monthsOld(today: string, birthDate: string): number | undefined {
  if (birthDate > today) return undefined;
  const [thisYear = 0, thisMonth = 0, thisDay = 0] = today.split('-').map(Number);
  const [year = 0, month = 0, day = 0] = birthDate.split('-').map(Number);
  return (thisYear - year) * 12 + (thisMonth - month) - (thisDay < day ? 1 : 0);
}

/** A date as typed: day, month and year. */
export type TypedDate = { readonly day: string; readonly month: string; readonly year: string };

/**
 * Returns a typed date as drafts store it: `2026-2-28`. Dashes separate its parts, so typed dashes become
 * spaces.
 */
export const writeTypedDate = ({ day, month, year }: TypedDate) =>
  [year, month, day].map((part) => part.replaceAll('-', ' ')).join('-');

/** Reads a typed date as drafts store it. */
export function readTypedDate(written: string): TypedDate {
  const [year = '', month = '', day = ''] = written.split('-');
  return { day, month, year };
}
