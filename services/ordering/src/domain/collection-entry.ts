import { isCalendarDate } from '@clinical-launch/contracts/formats';
import { localDay, localTime } from '@clinical-launch/contracts/time';
import { monthTyped } from './days.ts';
import { type CollectionEntry, cleanText } from './draft.ts';
import { instantsOf } from './written-dates.ts';

/** The person who collected a sample, and the time. `at` is an ISO 8601 instant. */
export type Collected = { readonly at: string; readonly by: string };

/** An error in one field of a collection entry, worded for the user. */
export type CollectionFault = { readonly field: 'by' | 'date' | 'time'; readonly message: string };

export type CollectionReading =
  | { readonly collected: Collected }
  | { readonly faults: readonly CollectionFault[] };

/** The maximum length of the name of the person who collected a sample. */
export const maxCollectorLength = 100;

const oldestDays = 60;
/**
 * The milliseconds by which a time may be in the future, because the collector's clock may be ahead of the
 * server's clock.
 */
const graceMs = 60_000;
const dayMs = 86_400_000;

type Moment = { readonly now: number; readonly timeZone: string };

/**
 * Reads who collected a sample and when, in the practice's local time, to the minute. The time must be at
 * most a minute in the future and at most 60 days ago. If the clocks showed the time twice, uses the later
 * instant that is allowed. If the clocks skipped the time, returns an error.
 * @param moment `now`: milliseconds since 1970; `timeZone`: IANA name
 */
export function readCollectionEntry({ by, date, time }: CollectionEntry, moment: Moment): CollectionReading {
  const collector = cleanText(by).replace(/\s+/g, ' ');
  const day = readDate(date);
  const clock = readTime(time);
  const at = 'text' in day && 'text' in clock ? readInstant(day.text, clock.text, moment) : undefined;
  const faults = [
    ...collectorFaults(collector),
    ...[day, clock, at].flatMap((part) => (part !== undefined && 'fault' in part ? [part.fault] : [])),
  ];
  return at !== undefined && 'instant' in at && faults.length === 0
    ? { collected: { at: new Date(at.instant).toISOString(), by: collector } }
    : { faults };
}

/** Returns the entry of a recorded collection in local time. The inverse of `readCollectionEntry`. */
export function writeCollectionEntry({ at, by }: Collected, timeZone: string): CollectionEntry {
  const [day = '', time = ''] = localTime(Date.parse(at), timeZone).split('T');
  const [year = '', month = '', dayOfMonth = ''] = day.split('-');
  return {
    by,
    date: { day: String(Number(dayOfMonth)), month: String(Number(month)), year },
    time: time.slice(0, 5),
  };
}

/** Returns the entry of a sample that is collected now. @param now milliseconds since 1970 */
export const collectionNow = (now: number, by: string, timeZone: string): CollectionEntry =>
  writeCollectionEntry({ at: new Date(now).toISOString(), by }, timeZone);

type Fault = { readonly fault: CollectionFault };
type Read = { readonly text: string } | Fault;

const faultOf = (field: CollectionFault['field'], message: string): Fault => ({ fault: { field, message } });

function collectorFaults(collector: string): CollectionFault[] {
  if (collector === '') return [{ field: 'by', message: 'Enter who collected the sample' }];
  if (collector.length <= maxCollectorLength) return [];
  return [
    { field: 'by', message: `Who collected the sample must be ${maxCollectorLength} characters or fewer` },
  ];
}

/** Reads a date as YYYY-MM-DD. The month may be a word. */
function readDate(date: CollectionEntry['date']): Read {
  const day = date.day.trim();
  const month = date.month.trim();
  const year = date.year.trim();
  if (`${day}${month}${year}` === '') return faultOf('date', 'Enter when the sample was collected');
  const missing = Object.entries({ day, month, year }).filter(([, typed]) => typed === '');
  if (missing.length > 0) {
    return faultOf('date', `The date must include a ${missing.map(([part]) => part).join(' and ')}`);
  }
  // A year of two digits is unambiguous, because the date must be within the last 60 days.
  const whole = /^\d\d$/.test(year) ? `20${year}` : year;
  const monthDigits = monthTyped(month);
  const isWritten = [day, monthDigits].every((part) => /^\d{1,2}$/.test(part)) && /^[12]\d{3}$/.test(whole);
  const text = `${whole}-${monthDigits}-${day.padStart(2, '0')}`;
  return isWritten && isCalendarDate(text) ? { text } : faultOf('date', 'The date must be a real date');
}

const clockForm = /^(\d{1,2})(?:[:.]?(\d\d))?\s*(am|pm)?$/;

/** Reads a time as HH:MM in the 24-hour clock. Accepts 9:05, 0905, 9.05, 9:05am and 9am. */
function readTime(time: string): Read {
  const typed = time.trim().toLowerCase();
  if (typed === '') return faultOf('time', 'Enter the time the sample was collected');
  const [, hourTyped, minuteTyped, half] = clockForm.exec(typed) ?? [];
  const hour = hourOf(Number(hourTyped), half);
  const minutes = minuteTyped ?? (half === undefined ? undefined : '00');
  if (hour === undefined || minutes === undefined || minutes > '59') {
    return faultOf('time', 'The time must be a real time, like 9:05 or 14:30');
  }
  return { text: `${String(hour).padStart(2, '0')}:${minutes}` };
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}

function readInstant(
  day: string,
  time: string,
  { now, timeZone }: Moment,
): { readonly instant: number } | Fault {
  const instants = instantsOf(`${day}T${time}`, timeZone);
  const latest = now + graceMs;
  const instant = instants.findLast((candidate) => candidate <= latest);
  if (instants.length === 0) {
    return faultOf('time', 'The clocks went forward, so this time did not exist. Enter another time');
  }
  if (instant === undefined) {
    return day > localDay(now, timeZone)
      ? faultOf('date', 'The date must be today or in the past')
      : faultOf('time', 'The time must be now or in the past');
  }
  if (instant < now - oldestDays * dayMs) {
    return faultOf('date', `The date must be within the last ${oldestDays} days`);
  }
  return { instant };
}
