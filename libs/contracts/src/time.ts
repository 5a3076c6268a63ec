/**
 * The accepted seconds by which the clock of another system is ahead of ours, for times that must not be in
 * the future (`nbf`, `iat`, `auth_time`).
 */
export const clockToleranceSeconds = 60;
/** The seconds for which a token is accepted after its `exp`. */
export const expiryToleranceSeconds = 10;

/**
 * Returns both times of a refusal because of a clock, such as `exp 2026-03-02T09:29:49.000Z, server time
 * 2026-03-02T09:30:00.000Z`.
 * @param seconds the refused time, in seconds since 1970; written as a number if it is in no year
 * @param now our time, in milliseconds since 1970
 */
export function bothTimes(name: string, seconds: number, now: number): string {
  const date = new Date(seconds * 1000);
  const sent = Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
  return `${name} ${sent}, server time ${new Date(now).toISOString()}`;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the cached formatter of a time zone. Creating a formatter takes a thousand times longer than using
 * it.
 */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  // The Swedish form 2023-11-06 19:43:05 differs from ISO 8601 only by the space.
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formatters.set(timeZone, made);
  return made;
}

const hourMs = 3_600_000;
/**
 * The maximum number of cached hours for each time zone. This number is enough, because the times in the
 * requests of a hospital lie within some weeks.
 */
const maxHours = 1000;

/**
 * The offsets from UTC by time zone and hour since 1970-01-01T00Z. An offset is undefined if it changes
 * within the hour.
 */
const offsets = new Map<string, Map<number, number | undefined>>();
/** The text of each local hour, such as `2026-03-02T09:`, by local hours since 1970-01-01T00. */
const hours = new Map<number, string>();

/**
 * Returns the local time of a time zone at an instant, truncated to seconds, such as `2026-03-02T09:05:59`.
 * Caches the offset of each hour, because a call of Intl takes 3 µs.
 * @param instant milliseconds since 1970-01-01T00:00:00Z
 * @param timeZone IANA name, `Europe/London`
 * @throws RangeError if the time zone is unknown
 */
export function localTime(instant: number, timeZone: string): string {
  const offset = offsetOf(Math.floor(instant / hourMs), timeZone);
  if (offset === undefined) return readLocalTime(instant, timeZone);
  const local = instant + offset;
  const hour = Math.floor(local / hourMs);
  const second = Math.floor((local - hour * hourMs) / 1000);
  return `${hourText(hour)}${twoDigits(Math.floor(second / 60))}:${twoDigits(second % 60)}`;
}

const readLocalTime = (instant: number, timeZone: string): string =>
  formatterOf(timeZone).format(instant).replace(' ', 'T');

function offsetOf(hour: number, timeZone: string): number | undefined {
  const known = knownOf(offsets, timeZone, () => new Map<number, number | undefined>());
  return knownOf(known, hour, () => {
    const begin = readOffset(hour * hourMs, timeZone);
    return begin === readOffset((hour + 1) * hourMs - 1000, timeZone) ? begin : undefined;
  });
}

/** Returns the offset from UTC at an instant, or undefined if its year does not have four digits. */
function readOffset(instant: number, timeZone: string): number | undefined {
  const text = readLocalTime(instant, timeZone);
  return /^[1-9]\d{3}-/.test(text) ? Date.parse(`${text}Z`) - instant : undefined;
}

const hourText = (hour: number): string =>
  knownOf(hours, hour, () => new Date(hour * hourMs).toISOString().slice(0, 14));

/** Returns the cached value of a key. If none is cached, finds and caches the value. Clears a full cache. */
function knownOf<Key, Value>(known: Map<Key, Value>, key: Key, find: () => Value): Value {
  const value = known.get(key);
  if (value !== undefined || known.has(key)) return value as Value;
  if (known.size >= maxHours) known.clear();
  const found = find();
  known.set(key, found);
  return found;
}

const twoDigits = (number: number): string => (number < 10 ? `0${number}` : String(number));

/** Returns the date (YYYY-MM-DD) of an instant in a time zone. */
export const localDay = (instant: number, timeZone: string): string =>
  localTime(instant, timeZone).slice(0, 10);

/** Returns true if the text is the IANA name of a time zone that Intl knows. */
export function isTimeZone(text: string): boolean {
  try {
    formatterOf(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Converts an ISO 8601 time with offset to local time in the form YYYYMMDDhhmmss of the order document,
 * truncated to seconds. Converts a leap second (`:60`, which FHIR allows) to the first second of the next
 * minute, as POSIX time does.
 * @param timeZone IANA name, `Europe/London`
 * @throws RangeError if the text is not a time or the time zone is unknown
 */
export function localDateTime(isoTime: string, timeZone: string): string {
  const isLeapSecond = isoTime.slice(16, 19) === ':60';
  const milliseconds = Date.parse(isLeapSecond ? `${isoTime.slice(0, 16)}:59${isoTime.slice(19)}` : isoTime);
  if (Number.isNaN(milliseconds)) throw new RangeError('A time of the order is not ISO 8601');
  const shown = localTime(isLeapSecond ? milliseconds + 1000 : milliseconds, timeZone).padStart(19, '0');
  const [day, time] = [shown.slice(0, 10), shown.slice(11)];
  return (
    day.slice(0, 4) + day.slice(5, 7) + day.slice(8) + time.slice(0, 2) + time.slice(3, 5) + time.slice(6)
  );
}

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
