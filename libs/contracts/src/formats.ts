const xmlText = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;
const date = /^(?!0000)(\d{4})-(\d{2})-(\d{2})$/;
const dateTime =
  /^((?!0000)\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/;

/**
 * Text on one line: none of the characters at which a reader may break a line, and no tab. They would arrive in labels,
 * lists and the fields of a laboratory system that have one line.
 */
export const singleLine = {
  pattern: '^[^\\t\\n\\r\\u0085\\u2028\\u2029]*$',
  description: 'must be one line, without tabs',
} as const;

const dayMs = 86_400_000;
/** No clock differs from UTC by more, so between these the year has four digits everywhere. */
const widestOffsetMs = 14 * 3_600_000;
const firstInstant = Date.parse('0001-01-01T00:00:00Z') + widestOffsetMs;
const endOfInstants = Date.parse('9999-12-31T00:00:00Z') + dayMs - widestOffsetMs;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether every character of the text can stand in an XML 1.0 document (XML 1.0 section 2.2, Char). */
export function isXmlText(text: string): boolean {
  return xmlText.test(text);
}

/** Whether the text is a day of the calendar, written YYYY-MM-DD. Read as text: `Date` makes 1 March of 2023-02-29. */
export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = (date.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeapYear ? 29 : (daysOfMonth[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/**
 * Whether the text is a FHIR dateTime with seconds and offset (FHIR R4 datatypes, dateTime) on a day of the calendar.
 * Fractions go to nanoseconds, as FHIR R5 has them.
 * A leap second (`:60`) is refused: nothing after this point could calculate with it. So is a time that is in a year of
 * other than four digits by some clock of the world: the order document has local times with four.
 */
export function isFullDateTime(text: string): boolean {
  const day = dateTime.exec(text)?.[1];
  if (day === undefined || !isCalendarDate(day)) return false;
  const instant = Date.parse(text);
  return instant >= firstInstant && instant < endOfInstants;
}

/**
 * Whether a calendar date is after today, by any clock of the world: a day later than today in UTC may be today.
 * @param now milliseconds since 1970
 */
export function isFutureDate(date: string, now: number): boolean {
  const day = Math.floor(now / dayMs) + 1;
  if (day !== tomorrow.day) tomorrow = { day, date: new Date(day * dayMs).toISOString().slice(0, 10) };
  return date > tomorrow.date;
}

/** Written once a day. */
let tomorrow = { day: Number.NaN, date: '' };

/**
 * The string formats of our schemas: how each is checked, what a fault says, and what a published schema has in its
 * place, for readers that know only the formats of JSON Schema.
 */
export const formats = {
  'xml-text': {
    validate: isXmlText,
    message: 'must have only characters that XML 1.0 can carry',
    published: { pattern: xmlText.source },
  },
  'calendar-date': {
    validate: isCalendarDate,
    message: 'must be a real date, written YYYY-MM-DD',
    published: { format: 'date', pattern: date.source },
  },
  'full-date-time': {
    validate: isFullDateTime,
    message: 'must be a real date and time with its offset, written like 2023-11-06T19:43:05Z',
    published: { format: 'date-time', pattern: dateTime.source },
  },
} as const;
