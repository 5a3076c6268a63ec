import { localTime, shortened, writtenDate } from '@clinical-launch/contracts/time';

/** A time for a page: as ISO 8601 for programs, as text for readers, and in a short form for tables. */
export type WrittenTime = { readonly iso: string; readonly text: string; readonly short: string };

/**
 * Formats an instant in the local time of the readers: `2 March 2026 at 16:10:05`. Uses the 24-hour clock
 * with seconds, because support desks compare the time with logs.
 */
export type WriteTime = (instant: Date | number) => WrittenTime;

/** Creates the formatter of times. @param timeZone an IANA name */
export function createTimeWriter(timeZone: string): WriteTime {
  return (instant) => {
    const [day = '', time = ''] = localTime(new Date(instant).getTime(), timeZone).split('T');
    const date = writtenDate(day);
    return {
      iso: new Date(instant).toISOString(),
      text: `${date} at ${time}`,
      // Allows a line break only between date and time.
      short: `${shortened(date).replaceAll(' ', '\u00a0')} ${time}`,
    };
  };
}
