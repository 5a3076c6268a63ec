import { localTime } from './time.ts';

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/**
 * Returns `21 November 2026` for the date `2026-11-21`. Does not use `Date`, so that no time zone can change
 * the day.
 */
export function writtenDate(date: string): string {
  const [year = '', month = '', day = ''] = date.split('-');
  return `${Number(day)} ${months[Number(month) - 1] ?? month} ${year}`;
}

/** Returns `21 Nov 2026` for `21 November 2026`, for narrow table columns. */
export const shortened = (written: string): string => written.replace(/([A-Z][a-z]{2})[a-z]+/, '$1');

/** Returns an instant as text for pages, in the 24-hour clock: `21 November 2026 at 16:10`. */
export type WriteTime = (instant: Date | number | string) => string;

/**
 * Creates a function that converts instants (milliseconds since 1970 or ISO 8601) to local time without
 * seconds.
 * @param timeZone IANA name, `Europe/London`
 */
export function createTimeWriter(timeZone: string): WriteTime {
  return (instant) => {
    const [day = '', time = ''] = localTime(new Date(instant).getTime(), timeZone).split('T');
    return `${writtenDate(day)} at ${time.slice(0, 5)}`;
  };
}
