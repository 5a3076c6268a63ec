const xmlText = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;
const date = /^(?!0000)(\d{4})-(\d{2})-(\d{2})$/;
const dateTime =
  /^((?!0000)\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/;

/**
 * Text on one line: no line break character and no tab. Labels, lists and the fields of a laboratory system
 * have one line.
 */
export const singleLine = {
  pattern: '^[^\\t\\n\\r\\u0085\\u2028\\u2029]*$',
  description: 'must be one line, without tabs',
} as const;

const dayMs = 86_400_000;
/** No clock differs from UTC by more, so between these limits the year has four digits everywhere. */
const widestOffsetMs = 14 * 3_600_000;
const firstInstant = Date.parse('0001-01-01T00:00:00Z') + widestOffsetMs;
const endOfInstants = Date.parse('9999-12-31T00:00:00Z') + dayMs - widestOffsetMs;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns whether every character of the text may be in an XML 1.0 document (XML 1.0 section 2.2, Char). */
export function isXmlText(text: string): boolean {
  return xmlText.test(text);
}

/**
 * Returns whether the text is a date that exists, written YYYY-MM-DD. Read as text, because `Date` turns
 * 2023-02-29 into 1 March.
 */
export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = (date.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeapYear ? 29 : (daysOfMonth[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/**
 * Returns whether a search may name the day with which the text begins, YYYY-MM-DD: one that exists, in the
 * years 1900 to 2999. No record is from other years, and near the years 0 and 10000 a database or the offset
 * of a time zone changes the form of a day.
 */
export function isSearchableDay(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year >= 1900 && year <= 2999 && isCalendarDate(text.slice(0, 10));
}

/**
 * Returns whether the text is a FHIR dateTime with seconds and offset (FHIR R4 datatypes, dateTime) on a date
 * that exists. Accepts fractions down to nanoseconds, as FHIR R5 does. Refuses a leap second (`:60`), because
 * no later calculation could use it. Refuses a time whose year does not have four digits by every clock of
 * the world, because the order document contains local times with four.
 */
export function isFullDateTime(text: string): boolean {
  const day = dateTime.exec(text)?.[1];
  if (day === undefined || !isCalendarDate(day)) return false;
  const instant = Date.parse(text);
  return instant >= firstInstant && instant < endOfInstants;
}

/**
 * Returns whether a calendar date is after today, by every clock of the world: a day later than today in UTC
 * may be today.
 * @param now milliseconds since 1970
 */
export function isFutureDate(date: string, now: number): boolean {
  const day = Math.floor(now / dayMs) + 1;
  if (day !== tomorrow.day) tomorrow = { day, date: new Date(day * dayMs).toISOString().slice(0, 10) };
  return date > tomorrow.date;
}

/** Computed once a day. */
let tomorrow = { day: Number.NaN, date: '' };

/**
 * The string formats of our schemas: the check, the error message, and the replacement in a published schema
 * for readers that know only the formats of JSON Schema.
 */
export const formats = {
  'xml-text': {
    validate: isXmlText,
    message: 'must contain only characters that are allowed in XML 1.0',
    published: { pattern: xmlText.source },
  },
  'calendar-date': {
    validate: isCalendarDate,
    message: 'must be a date that exists, written YYYY-MM-DD',
    published: { format: 'date', pattern: date.source },
  },
  'full-date-time': {
    validate: isFullDateTime,
    message: 'must be a date and time that exists, with its offset, written like 2023-11-06T19:43:05Z',
    published: { format: 'date-time', pattern: dateTime.source },
  },
} as const;

/**
 * Returns whether the text is a code challenge of S256: the Base64URL text of 32 bytes (RFC 7636 section
 * 4.2). The last of its 43 characters contains four bits. A text whose two spare bits are set never equals
 * the challenge of a verifier.
 */
export function isCodeChallenge(text: string): boolean {
  return challengeForm.test(text);
}

/** The pattern of a code challenge for a JSON Schema. */
export const codeChallengePattern = '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$';
const challengeForm = new RegExp(codeChallengePattern);

/**
 * The pattern of the code verifier of a launch URL without its padding: 64 to 128 random bytes are 86 to 171
 * characters of Base64URL, more than the 128 of RFC 7636 section 4.1.
 */
export const launchVerifierForm = '[A-Za-z0-9._~-]{43,256}';

const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A reader converts a literal CR to LF (XML 1.0 section 2.11; HTML "preprocessing the input stream").
  '\r': '&#13;',
};

const special = /[&<>"'\r]/;
const everySpecial = /[&<>"'\r]/g;

/**
 * Escapes text for element content and quoted attribute values of HTML, and for element content of XML, so
 * that the reader gets it back character for character. Tab and LF need no escape there. Characters that XML
 * 1.0 does not allow are refused in the payload and not checked here.
 */
export function escapeMarkup(text: string): string {
  // Most texts need no escape, and a test costs less than a replacement of nothing.
  if (!special.test(text)) return text;
  return text.replaceAll(everySpecial, (character) => replacements[character] ?? character);
}
