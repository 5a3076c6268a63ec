import { isSearchableDay } from '@clinical-launch/contracts/formats';
import { localTime } from '@clinical-launch/contracts/time';

/** The form of a local time in the address of a page: `2026-03-02T16:05`. */
export const localMinuteForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

/**
 * Returns the instant of a local time; undefined for one that is not in the calendar, or in a year that
 * cannot be searched. A time that a change of the clocks skips or repeats is one of the two that it may mean.
 * @param minute `2026-03-02T16:05`
 */
export function instantOf(minute: string, timeZone: string): Date | undefined {
  const asUtc = Date.parse(`${minute}:00Z`);
  if (Number.isNaN(asUtc) || !isSearchableDay(minute)) return undefined;
  const offset = (instant: number) => Date.parse(`${localTime(instant, timeZone)}Z`) - instant;
  return new Date(asUtc - offset(asUtc - offset(asUtc)));
}
