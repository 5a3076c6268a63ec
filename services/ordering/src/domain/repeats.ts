import type { PersonName } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { localDay } from '@clinical-launch/contracts/time';
import type { Catalogue, Orderable } from './catalogue.ts';
import { daysBetween } from './days.ts';

/** A test that was requested for the patient before and was not removed. */
export type EarlierTest = {
  readonly code: string;
  readonly description: string;
  /** ISO 8601 instant */
  readonly requestedAt: string;
  readonly requester: PersonName;
  /** The name of the patient in that request, if it differs from the name in this launch. */
  readonly otherPatient?: PersonName;
  readonly isSampleTaken: boolean;
  /** Absent for a test without a sample. */
  readonly container?: string;
  /** The name of the laboratory that performs the test. */
  readonly provider: string;
  readonly orderReference: string;
};

/**
 * A chosen test that was requested before: within its minimum interval, today, or in a request whose sample
 * is not collected yet.
 */
export type Repeat = {
  readonly test: Orderable;
  /** Present if the test was requested within this interval, so that the repeat needs a reason. */
  readonly minimumIntervalDays?: number;
  readonly latest: EarlierTest;
  /** The local day of the latest request, YYYY-MM-DD, and the number of days since then. */
  readonly day: string;
  readonly daysAgo: number;
  /**
   * An earlier request that can replace the repeat. It was made today, or its sample is not collected yet.
   */
  readonly usable?: EarlierTest;
};

/** A search for earlier requests of a patient. */
export type RepeatSearch = {
  readonly codes: readonly string[];
  /** The time of the oldest request to search, as an ISO 8601 instant. */
  readonly since: string;
};

const dayMs = 86_400_000;

/** After this number of days, a request that waits for its sample is regarded as abandoned. */
const openDays = 365;

/**
 * Returns the search for earlier requests of these tests.
 * @param now milliseconds since 1970-01-01T00:00:00Z
 */
export function repeatSearch(tests: readonly Orderable[], catalogue: Catalogue, now: number): RepeatSearch {
  const days = Math.max(openDays, ...tests.map(({ minimumIntervalDays = 0 }) => minimumIntervalDays));
  return {
    codes: [...new Set(tests.flatMap((test) => countedAs(test, catalogue)))],
    // Adds a day, because an interval begins at the start of a local day, up to 24 hours earlier.
    since: new Date(now - (days + 1) * dayMs).toISOString(),
  };
}

/**
 * Returns the codes that count as a repeat of a test: its own code, and the codes of panels that contain the
 * test. For a panel, also returns the codes of its tests.
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

/**
 * Returns the chosen tests that repeat an earlier request (`Repeat`), each with the request that it repeats.
 */
export function findRepeats({ tests, earlier, catalogue, now, timeZone }: RepeatsBasis): Repeat[] {
  const today = localDay(now, timeZone);
  const dayOf = ({ requestedAt }: EarlierTest) => localDay(Date.parse(requestedAt), timeZone);
  return tests.flatMap((test): Repeat[] => {
    const { minimumIntervalDays = 0 } = test;
    const codes = countedAs(test, catalogue);
    const before = earlier
      .filter(({ code }) => codes.includes(code))
      .toSorted((one, other) => Date.parse(other.requestedAt) - Date.parse(one.requestedAt));
    const [newest] = before;
    if (newest === undefined) return [];
    const isWithin = daysBetween(dayOf(newest), today) < minimumIntervalDays;
    const current = before.filter((each) => isWaiting(each) || dayOf(each) === today);
    const latest = isWithin ? newest : current[0];
    if (latest === undefined) return [];
    // An earlier request of only one part of a panel cannot be used instead of the panel.
    const usable = current.find(({ code }) => !test.covers.includes(code));
    const day = dayOf(latest);
    return [
      {
        test,
        latest,
        day,
        daysAgo: daysBetween(day, today),
        ...(isWithin ? { minimumIntervalDays } : {}),
        ...withoutUndefined({ usable }),
      },
    ];
  });
}

const isWaiting = ({ isSampleTaken, container }: EarlierTest) => container !== undefined && !isSampleTaken;

/** Returns whether a repeat needs a reason. */
export const needsReason = ({ minimumIntervalDays }: Repeat) => minimumIntervalDays !== undefined;
