const xmlText = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;
const date = /^(?!0000)(\d{4})-(\d{2})-(\d{2})$/;
const dateTime =
  /^((?!0000)\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/;

/**
 * The pattern of text without line breaks and tabs, because labels, lists and the fields of laboratory
 * systems contain one line.
 */
export const singleLine = {
  pattern: '^[^\\t\\n\\r\\u0085\\u2028\\u2029]*$',
  description: 'must be one line, without tabs',
} as const;

/** The pattern of text without the traces of a wrong encoding. `singleLine` refuses the C1 control U+0085. */
export const wellDecoded = {
  pattern: '^[^\\u0080-\\u0084\\u0086-\\u009f\\ufffd]*$',
  description: 'must not contain C1 controls or U+FFFD, the traces of a wrong encoding. Send it as UTF-8',
} as const;

const blank = '[\\s\\p{Default_Ignorable_Code_Point}]';
// Without the lookbehind, the time would grow with the square of the length of a row of blanks.
const outerBlanks = new RegExp(`^${blank}+|(?<!${blank})${blank}+$`, 'gu');

/**
 * Returns a code, an identifier or a login name without blanks and invisible characters at its ends. People
 * cannot see them, and columns of fixed length and pasted texts add them.
 */
export const bareCode = (code: string): string => code.replace(outerBlanks, '');

const dayMs = 86_400_000;
/**
 * The maximum offset of a time zone from UTC. Between `firstInstant` and `endOfInstants`, the year has four
 * digits in every time zone.
 */
const widestOffsetMs = 14 * 3_600_000;
const firstInstant = Date.parse('0001-01-01T00:00:00Z') + widestOffsetMs;
const endOfInstants = Date.parse('9999-12-31T00:00:00Z') + dayMs - widestOffsetMs;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns true if XML 1.0 allows every character of the text (XML 1.0 section 2.2, Char). */
export function isXmlText(text: string): boolean {
  return xmlText.test(text);
}

/**
 * Returns true if the text is an existing date in the form YYYY-MM-DD. Does not use `Date`, which converts
 * 2023-02-29 to 1 March.
 */
export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = (date.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeapYear ? 29 : (daysOfMonth[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/**
 * Returns true if the text begins with an existing date (YYYY-MM-DD) of the years 1900 to 2999. Searches
 * refuse other dates, because no record contains them. Databases and time zones also change the form of dates
 * near the years 0 and 10000.
 */
export function isSearchableDay(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year >= 1900 && year <= 2999 && isCalendarDate(text.slice(0, 10));
}

/**
 * Returns true if the text is a FHIR dateTime with seconds and offset (FHIR R4 datatypes, dateTime) on an
 * existing date. Accepts fractions of a second with up to nine digits, as FHIR R5 does. Refuses leap seconds
 * (`:60`), which `Date.parse` does not accept. Refuses times whose year does not have four digits in every
 * time zone, because the year in the order document has four digits.
 */
export function isFullDateTime(text: string): boolean {
  const day = dateTime.exec(text)?.[1];
  if (day === undefined || !isCalendarDate(day)) return false;
  const instant = Date.parse(text);
  return instant >= firstInstant && instant < endOfInstants;
}

/**
 * Returns true if a date is in the future in every time zone. For the UTC date of tomorrow, returns false,
 * because some time zones already have that date.
 * @param now milliseconds since 1970
 */
function isFutureDate(date: string, now: number): boolean {
  const day = Math.floor(now / dayMs) + 1;
  if (day !== tomorrow.day) tomorrow = { day, date: new Date(day * dayMs).toISOString().slice(0, 10) };
  return date > tomorrow.date;
}

const maxAgeYears = 140;

/**
 * Returns what is wrong with a date of birth that exists, or undefined. Systems send dates such as 0001-01-01
 * if they know none, and nobody has lived for more than 140 years.
 * @param now milliseconds since 1970
 */
export function birthDateProblem(date: string, now: number): string | undefined {
  if (isFutureDate(date, now)) return 'must not be in the future';
  const today = new Date(now).toISOString();
  const earliest = `${Number(today.slice(0, 4)) - maxAgeYears}${today.slice(4, 10)}`;
  return date < earliest ? `must not be more than ${maxAgeYears} years ago` : undefined;
}

/** The UTC date of tomorrow. It is cached, and computed only once a day. */
let tomorrow = { day: Number.NaN, date: '' };

/**
 * The string formats of the platform's schemas. Each has a check, an error message, and the keywords that
 * replace it in published schemas. Other validators know only the formats of JSON Schema.
 */
export const formats = {
  'xml-text': {
    validate: isXmlText,
    message: 'must contain only characters that are allowed in XML 1.0',
    // Without surrogates, which some languages compare one by one.
    published: { pattern: '^[^\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\uFFFE\\uFFFF]*$' },
  },
  'calendar-date': {
    validate: isCalendarDate,
    message: 'must be a date that exists, written YYYY-MM-DD',
    published: { format: 'date', pattern: date.source },
  },
  'full-date-time': {
    validate: isFullDateTime,
    message:
      'must be a date and time that exists, with seconds and an offset such as Z or +01:00, written like 2023-11-06T19:43:05Z',
    published: { format: 'date-time', pattern: dateTime.source },
  },
} as const;

/**
 * Returns true if the text is an S256 code challenge: 32 bytes in Base64URL (RFC 7636 section 4.2). The last
 * of the 43 characters encodes only four bits. If one of the other two bits is set, no code verifier matches
 * the challenge.
 */
export function isCodeChallenge(text: string): boolean {
  return challengeForm.test(text);
}

/** The pattern of a code challenge in JSON Schemas. */
export const codeChallengePattern = '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$';
const challengeForm = new RegExp(codeChallengePattern);

/**
 * The pattern of the code verifier of a launch URL, without padding. The OLTR verifier has 64 to 128 random
 * bytes, which are 86 to 171 characters of Base64URL. The pattern therefore allows more than the 128
 * characters of RFC 7636 section 4.1.
 */
export const launchVerifierForm = '[A-Za-z0-9._~-]{43,256}';

const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // Parsers convert a literal CR to LF (XML 1.0 section 2.11; HTML "preprocessing the input stream").
  '\r': '&#13;',
};

const special = /[&<>"'\r]/;
const everySpecial = /[&<>"'\r]/g;

/**
 * Escapes text for element content and quoted attribute values of HTML, and for element content of XML, so
 * that parsers return exactly the same text. Tab and LF need no escape in these positions. Does not check
 * that XML 1.0 allows the characters, because the payload reader refuses forbidden characters.
 */
export function escapeMarkup(text: string): string {
  // Most texts need no escape, and this test is faster than a replacement that changes nothing.
  if (!special.test(text)) return text;
  return text.replaceAll(everySpecial, (character) => replacements[character] ?? character);
}
