const xmlText = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;
const date = /^(?!0000)(\d{4})-(\d{2})-(\d{2})$/;
const dateTime =
  /^((?!0000)\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/;

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
 * A leap second (`:60`) is not taken: nothing after this point could calculate with it.
 */
export function isFullDateTime(text: string): boolean {
  const day = dateTime.exec(text)?.[1];
  return day !== undefined && isCalendarDate(day);
}

/** The string formats of our schemas: how each is checked and what a fault says. */
export const formats = {
  'xml-text': { validate: isXmlText, message: 'must have only characters that XML 1.0 can carry' },
  'calendar-date': { validate: isCalendarDate, message: 'must be a real date, written YYYY-MM-DD' },
  'full-date-time': {
    validate: isFullDateTime,
    message: 'must be a real date and time with its offset, written like 2023-11-06T19:43:05Z',
  },
} as const;
