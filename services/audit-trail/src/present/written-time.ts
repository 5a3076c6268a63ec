import { localTime } from '@clinical-launch/contracts/time';
import { shortened, writtenDate } from '@clinical-launch/contracts/written-time';

/** A time for a page: for programs, as its reader expects it, and for a table. */
export type WrittenTime = { readonly iso: string; readonly text: string; readonly short: string };

/**
 * Writes an instant in the local time of the readers: `2 March 2026 at 16:10:05`. Support desks compare it with
 * logs, so it has 24 hours and seconds.
 */
export type WriteTime = (instant: Date | number) => WrittenTime;

/** Creates the writer of times. @param timeZone IANA name */
export function createTimeWriter(timeZone: string): WriteTime {
  return (instant) => {
    const [day = '', time = ''] = localTime(new Date(instant).getTime(), timeZone).split('T');
    const date = writtenDate(day);
    return {
      iso: new Date(instant).toISOString(),
      text: `${date} at ${time}`,
      // Only between date and time may the line end.
      short: `${shortened(date).replaceAll(' ', '\u00a0')} ${time}`,
    };
  };
}
