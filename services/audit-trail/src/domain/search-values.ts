import { pseudonymPattern } from '@clinical-launch/contracts/events/catalogue';
import { isSearchableDay } from '@clinical-launch/contracts/formats';
import { localTime } from '@clinical-launch/contracts/time';

const pseudonymForm = new RegExp(pseudonymPattern);

/** Returns whether a text has the form of a patient pseudonym. */
export const isPseudonym = (text: string): boolean => pseudonymForm.test(text);

const timeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;
export const timePattern = timeForm.source;

/**
 * Parses a date, as a day in UTC, or a time with an offset. Returns milliseconds since 1970, or undefined if
 * the text is invalid.
 */
export function readTime(text: string): number | undefined {
  const time = timeForm.test(text) && isSearchableDay(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Returns `must …` if a text is empty or too long. The text may contain any characters, because it is hashed.
 */
export const lengthFault = (text: string, maxLength: number): string | undefined =>
  text !== '' && text.length <= maxLength ? undefined : `must have 1 to ${maxLength} characters`;

/**
 * Returns `must …` if a text cannot be searched for. No event contains a control character,
 * and PostgreSQL rejects NUL.
 */
export const textFault = (text: string, maxLength: number): string | undefined =>
  lengthFault(text, maxLength) ?? (/\p{Cc}/u.test(text) ? 'must not contain control characters' : undefined);

/** The pattern of a local time in the address of a page, such as `2026-03-02T16:05`. */
export const localMinuteForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

/**
 * Returns the instant of a local time. Returns undefined if the date does not exist or its year cannot be
 * searched. If a change of the clocks skips or repeats the time, returns one of the two possible instants.
 * @param minute `2026-03-02T16:05`
 */
export function instantOf(minute: string, timeZone: string): Date | undefined {
  const asUtc = Date.parse(`${minute}:00Z`);
  if (Number.isNaN(asUtc) || !isSearchableDay(minute)) return undefined;
  const offset = (instant: number) => Date.parse(`${localTime(instant, timeZone)}Z`) - instant;
  return new Date(asUtc - offset(asUtc - offset(asUtc)));
}
