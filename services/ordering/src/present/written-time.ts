import { localTime } from '@clinical-launch/contracts/time';

/** Returns an ISO 8601 instant as pages show it: `2 Mar 2026 at 09:30`. */
export type WriteTime = (isoTime: string) => string;

/**
 * Creates a function that writes times in the practice's local time, to the minute.
 * @param timeZone IANA name
 */
export function createTimeWriter(timeZone: string): WriteTime {
  return (isoTime) => {
    const [day = '', time = ''] = localTime(Date.parse(isoTime), timeZone).split('T');
    return `${writtenDate(day)} at ${time.slice(0, 5)}`;
  };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns `28 Feb 1958` for a day written YYYY-MM-DD. Read as text, so that no time zone changes it. */
export function writtenDate(date: string): string {
  const [year = '', month = '', day = ''] = date.split('-');
  return `${Number(day)} ${months[Number(month) - 1] ?? month} ${year}`;
}
