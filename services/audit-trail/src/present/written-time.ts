import { createTimeWriter as createTextWriter } from '@clinical-launch/contracts/written-time';

/** A time for a page: for programs, and as its reader expects it. */
export type WrittenTime = { readonly iso: string; readonly text: string };

/** Writes an instant in the local time of the readers: `2 March 2026 at 4:10:05pm`. */
export type WriteTime = (instant: Date | number) => WrittenTime;

/** Creates the writer of times. @param timeZone IANA name */
export function createTimeWriter(timeZone: string): WriteTime {
  const write = createTextWriter(timeZone, 'second');
  return (instant) => ({ iso: new Date(instant).toISOString(), text: write(instant) });
}
