import { localDay, type PersonName } from '@clinical-launch/contracts';
import type { Catalogue, Orderable } from './catalogue.ts';
import { daysBetween } from './days-between.ts';

/** A test that was requested for the patient before and is still wanted. */
export type EarlierTest = {
  readonly code: string;
  readonly description: string;
  /** ISO 8601 instant */
  readonly requestedAt: string;
  readonly requester: PersonName;
  readonly isSampleTaken: boolean;
  /** Absent for a test without a sample. */
  readonly container?: string;
  /** The laboratory that performs it. */
  readonly provider: string;
};

/** A chosen test that was requested within its minimum interval. */
export type Repeat = {
  readonly test: Orderable;
  readonly minimumIntervalDays: number;
  /** Its latest request. */
  readonly latest: EarlierTest;
  /** The local day of that request, YYYY-MM-DD, and the days from it until today. */
  readonly day: string;
  readonly daysAgo: number;
};

/** The search among the patient's requests. */
export type RepeatSearch = {
  readonly codes: readonly string[];
  /** ISO 8601 instant: earlier requests do not count. */
  readonly since: string;
};

const dayMs = 86_400_000;

/**
 * Returns the codes that count as a request of these tests, and how far back; undefined if none of them has a
 * minimum interval.
 * @param now milliseconds since 1970-01-01T00:00:00Z
 */
export function repeatSearch(
  tests: readonly Orderable[],
  catalogue: Catalogue,
  now: number,
): RepeatSearch | undefined {
  const limited = tests.filter(({ minimumIntervalDays }) => minimumIntervalDays !== undefined);
  if (limited.length === 0) return undefined;
  const days = Math.max(...limited.map(({ minimumIntervalDays = 0 }) => minimumIntervalDays));
  return {
    codes: [...new Set(limited.flatMap((test) => countedAs(test, catalogue)))],
    // Intervals are whole local days, so the first of them begins up to a day earlier.
    since: new Date(now - (days + 1) * dayMs).toISOString(),
  };
}

/**
 * Returns the codes that count as a request of a test: the test itself, the panels that contain it, and for a
 * panel the tests that it contains.
 */
function countedAs({ code, covers }: Orderable, { orderables }: Catalogue): string[] {
  const panels = [...orderables.values()].filter((panel) => panel.covers.includes(code));
  return [code, ...panels.map((panel) => panel.code), ...covers];
}

export type RepeatsBasis = {
  readonly tests: readonly Orderable[];
  readonly earlier: readonly EarlierTest[];
  readonly catalogue: Catalogue;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name */
  readonly timeZone: string;
};

/** Returns the tests that were requested within their minimum interval, each with its latest request. */
export function findRepeats({ tests, earlier, catalogue, now, timeZone }: RepeatsBasis): Repeat[] {
  const today = localDay(now, timeZone);
  return tests.flatMap((test): Repeat[] => {
    const { minimumIntervalDays: days } = test;
    const codes = countedAs(test, catalogue);
    const latest = earlier
      .filter(({ code }) => codes.includes(code))
      .toSorted((one, other) => Date.parse(other.requestedAt) - Date.parse(one.requestedAt))[0];
    if (days === undefined || latest === undefined) return [];
    const day = localDay(Date.parse(latest.requestedAt), timeZone);
    const daysAgo = daysBetween(day, today);
    return daysAgo >= days ? [] : [{ test, minimumIntervalDays: days, latest, day, daysAgo }];
  });
}
