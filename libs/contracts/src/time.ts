const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the formatter of a zone. Creating one costs a thousand times more than using it, so each zone has
 * one.
 */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  // Swedish writes 2023-11-06 19:43:05, which has the digits in the order of ISO 8601.
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

/**
 * Returns the local time of a time zone at an instant, seconds cut: `2026-03-02T09:05:59`.
 * @param instant milliseconds since 1970-01-01T00:00:00Z
 * @param timeZone IANA name, `Europe/London`
 * @throws RangeError when the zone is unknown
 */
export function localTime(instant: number, timeZone: string): string {
  return formatterOf(timeZone).format(instant).replace(' ', 'T');
}

/** Returns the day, YYYY-MM-DD, of an instant in a time zone; as `localTime`. */
export const localDay = (instant: number, timeZone: string): string =>
  localTime(instant, timeZone).slice(0, 10);

/** Returns whether a text is the IANA name of a time zone that this process knows. */
export function isTimeZone(text: string): boolean {
  try {
    formatterOf(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns an ISO 8601 time with offset in the form of the order document: YYYYMMDDhhmmss, local time, seconds
 * cut, not rounded. A leap second (:60, which FHIR allows) is the first second of the next minute, as in
 * POSIX time.
 * @param timeZone IANA name, `Europe/London`
 * @throws RangeError when the text is not a time or the zone is unknown
 */
export function localDateTime(isoTime: string, timeZone: string): string {
  const isLeapSecond = isoTime.slice(16, 19) === ':60';
  const milliseconds = Date.parse(isLeapSecond ? `${isoTime.slice(0, 16)}:59${isoTime.slice(19)}` : isoTime);
  if (Number.isNaN(milliseconds)) throw new RangeError('A time of the order is not ISO 8601');
  const shown = localTime(isLeapSecond ? milliseconds + 1000 : milliseconds, timeZone);
  return shown.replace(/\D/g, '').padStart(14, '0');
}
