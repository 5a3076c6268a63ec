import { localTime } from '@clinical-launch/contracts/time';

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

/** A time for a page: for programs, and as its reader expects it. */
export type WrittenTime = { readonly iso: string; readonly text: string };

/** Writes an instant in the local time of the readers: `2 March 2026, 4:10:05pm`. */
export type WriteTime = (instant: Date | number) => WrittenTime;

/** Creates the writer of times. @param timeZone IANA name */
export function createTimeWriter(timeZone: string): WriteTime {
  return (instant) => {
    const time = new Date(instant);
    const [day = '', clock = ''] = localTime(time.getTime(), timeZone).split('T');
    const [year = '', month = '', date = ''] = day.split('-');
    const written = `${Number(date)} ${months[Number(month) - 1] ?? month} ${year}, ${clockOf(clock)}`;
    return { iso: time.toISOString(), text: written };
  };
}

/** Returns `4:10:05pm` for `16:10:05`. */
export function clockOf(time: string): string {
  const [hour = '', ...rest] = time.split(':');
  const hours = Number(hour);
  return `${hours % 12 || 12}:${rest.join(':')}${hours < 12 ? 'am' : 'pm'}`;
}
