import { localTime } from '@clinical-launch/contracts/time';

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
