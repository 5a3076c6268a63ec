import { isCalendarDate } from '@clinical-launch/contracts/formats';
import { localTime } from '@clinical-launch/contracts/time';

type WrittenDates = {
  /** For each date, the days that it may mean (YYYY-MM-DD). `digits` is absent if the date has letters. */
  readonly dates: readonly { readonly days: readonly string[]; readonly digits?: string }[];
  readonly rest: string;
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const monthWord = `(?<month>(?:${months.join('|')})[a-z]*)`;
const monthNumber = '(?<month>\\d{1,2})';
const day = '(?<day>\\d{1,2})';
const year = '(?<year>\\d{4}|\\d{2})';
const between = '\\s*[-./ ]\\s*';

/**
 * The formats of dates. The day comes before the month, as in the UK, or the year comes first. The month may
 * be a word, before or after the day. Digits may have no separators.
 */
const forms = [
  `(?<year>\\d{4})${between}${monthNumber}${between}${day}`,
  `${day}${between}${monthNumber}${between}${year}`,
  `${day}(?:st|nd|rd|th)?[-./ ]*(?:of )?${monthWord}[-./, ]*${year}`,
  `${monthWord}[-./ ]*${day}(?:st|nd|rd|th)?[-./, ]+${year}`,
  '(?<day>\\d{2})(?<month>\\d{2})(?<year>\\d{4}|\\d{2})',
  '(?<year>\\d{4})(?<month>\\d{2})(?<day>\\d{2})',
].map((form) => new RegExp(`(?<![\\p{L}\\p{N}])${form}(?![\\p{L}\\p{N}])`, 'giu'));

/**
 * Extracts the dates of a text: `28/02/1958`, `28.2.58`, `28 Feb 1958`, `February 28th, 1958`, `1958-02-28`,
 * `28021958`. A year of two digits may be in this or in the last century. A date that does not exist stays in
 * the text.
 */
export function takeDates(text: string): WrittenDates {
  const dates: { days: string[]; digits?: string }[] = [];
  let rest = text;
  for (const form of forms) {
    rest = rest.replace(form, (written: string, ...found: unknown[]) => {
      const days = daysOf(found.at(-1) as Record<'day' | 'month' | 'year', string>);
      if (days.length === 0) return written;
      const isInDigits = !/\p{L}/u.test(written);
      dates.push({ days, ...(isInDigits ? { digits: written.replace(/\D/g, '') } : {}) });
      return ' ';
    });
  }
  return { dates, rest };
}

type DayInWords = { readonly day: string; readonly written: string };

const monthName =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const ordinal = `${day}(?:st|nd|rd|th)?`;
const wordForm = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?<near>today|yesterday)|${ordinal}[-./ ]*(?:of )?${monthName}|${monthName}[-./ ]*${ordinal})(?![\\p{L}\\p{N}])`,
  'giu',
);

/**
 * Extracts the days that a text contains without a year, such as `today`, `yesterday`, `24 Nov` and `November
 * 24th`. Each result is the latest matching day up to today.
 * @param today YYYY-MM-DD at the practice
 */
export function takeDaysInWords(text: string, today: string): { days: DayInWords[]; rest: string } {
  const days: DayInWords[] = [];
  const rest = text.replace(wordForm, (written: string, ...found: unknown[]) => {
    const named = found.at(-1) as Partial<Record<'near' | 'day' | 'month', string>>;
    const meant = dayNamed(named, today);
    if (meant === undefined) return written;
    days.push({ day: meant, written });
    return ' ';
  });
  return { days, rest };
}

function dayNamed(
  { near, day: dayText = '', month = '' }: Partial<Record<'near' | 'day' | 'month', string>>,
  today: string,
): string | undefined {
  if (near !== undefined) return dayAfter(today, near.toLowerCase() === 'today' ? 0 : -1);
  const thisYear = Number(today.slice(0, 4));
  // Nine years contain at least one 29 February, because two leap years are at most eight years apart.
  return Array.from({ length: 9 }, (_, back) =>
    daysOf({ day: dayText, month, year: String(thisYear - back) }),
  )
    .flat()
    .find((date) => date <= today);
}

function daysOf({ day: dayText, month, year: yearText }: Record<'day' | 'month' | 'year', string>): string[] {
  const monthIndex = /^\d/.test(month) ? Number(month) : months.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const years = yearText.length === 2 ? [`19${yearText}`, `20${yearText}`] : [yearText];
  return years
    .map((each) => `${each}-${String(monthIndex).padStart(2, '0')}-${dayText.padStart(2, '0')}`)
    .filter(isCalendarDate);
}

const dayMs = 86_400_000;

/**
 * Returns the instants at which the clocks of a time zone showed a local time, such as `2026-10-25T01:30`.
 * Returns two instants, earliest first, if the clocks went back, and none if they skipped the time.
 */
export function instantsOf(local: string, timeZone: string): number[] {
  const asUtc = Date.parse(`${local}Z`);
  // No time zone changes its clocks twice within two days, so one of the two offsets is correct.
  const offsets = [-dayMs, dayMs].map((away) => offsetAt(asUtc + away, timeZone));
  return [...new Set(offsets)]
    .map((offset) => asUtc - offset)
    .filter((instant) => instant + offsetAt(instant, timeZone) === asUtc)
    .toSorted((one, other) => one - other);
}

/** Returns the offset of a time zone from UTC at an instant, in milliseconds. */
const offsetAt = (instant: number, timeZone: string) =>
  Date.parse(`${localTime(instant, timeZone)}Z`) - Math.floor(instant / 1000) * 1000;

/**
 * Returns the first instant of a day, in milliseconds since 1970.
 * @param day YYYY-MM-DD
 */
export function startOfDay(day: string, timeZone: string): number {
  // If the clocks go forward at midnight, the day begins at 1am.
  const [first] = [...instantsOf(`${day}T00:00`, timeZone), ...instantsOf(`${day}T01:00`, timeZone)];
  return first ?? Date.parse(`${day}T00:00Z`);
}

/** Returns the day that is a number of days after another day, both YYYY-MM-DD. */
export const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00Z`) + days * dayMs).toISOString().slice(0, 10);
