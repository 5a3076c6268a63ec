import { writtenDate } from './patient-banner.ts';

/** Writes an ISO 8601 instant as pages show it: `2 Mar 2026 at 09:30`. */
export type WriteTime = (isoTime: string) => string;

/**
 * Prepares the writing of times as clocks show them where the practice is, to the minute.
 * @param timeZone IANA name
 */
export function createTimeWriter(timeZone: string): WriteTime {
  // Swedish writes 2026-03-02 09:30.
  const formatter = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return (isoTime) => {
    const [day = '', time = ''] = formatter.format(new Date(isoTime)).split(' ');
    return `${writtenDate(day)} at ${time}`;
  };
}
