import { localTime } from '../domain/local-time.ts';
import { writtenDate } from './patient-banner.ts';

/** Writes an ISO 8601 instant as pages show it: `2 Mar 2026 at 09:30`. */
export type WriteTime = (isoTime: string) => string;

/**
 * Prepares the writing of times as clocks show them where the practice is, to the minute.
 * @param timeZone IANA name
 */
export function createTimeWriter(timeZone: string): WriteTime {
  return (isoTime) => {
    const [day = '', time = ''] = localTime(Date.parse(isoTime), timeZone).split('T');
    return `${writtenDate(day)} at ${time.slice(0, 5)}`;
  };
}
