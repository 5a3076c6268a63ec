import { localDay } from '@clinical-launch/contracts/time';
import {
  elsewhereWord,
  isWord,
  laboratoryWord,
  type RequestSearch,
  requesterWord,
  testWord,
} from './request-search.ts';
import type { Priority, RequestStatus } from './test-request.ts';
import { dayAfter, startOfDay } from './written-dates.ts';

/** The first and the last day of each period, relative to today. */
export const recentDays = {
  today: { first: 0, last: 0 },
  yesterday: { first: -1, last: -1 },
  week: { first: -6, last: 0 },
} as const;

/** The filters of a list. A request must match every filter that is present. */
export type ListFilters = {
  readonly day?: keyof typeof recentDays;
  readonly test?: string;
  /**
   * An `overdue` request has waited for its samples for more than a day. An `elsewhere` request waits only
   * for samples that another place collects.
   */
  readonly status?: RequestStatus | 'overdue' | 'elsewhere';
  /** The key of a laboratory (`laboratoryKeyOf`). */
  readonly laboratory?: string;
  /** The key of a requester's identifier (`codeKeyOf`). */
  readonly requester?: string;
};

/** The search of a launch's list. The text may name a patient, so it must not appear in a URL. */
export type ListSearch = {
  readonly text: string;
  readonly priority?: Priority;
  readonly filters: ListFilters;
};

export const pageSize = 25;
/** The number of requests at which a list stops counting. */
export const maxCount = 1000;

/** The maximum age, in days, of requests for which a search tolerates typing errors. */
const similarDays = 90;

/** Returns the time of the oldest request for which a search tolerates typing errors, in ms since 1970. */
export const similarSince = (now: number): number => now - similarDays * 86_400_000;

/** After this time, a request that waits for its samples is overdue. */
const overdueMs = 86_400_000;

type Moment = { readonly now: number; readonly timeZone: string };

/** A period from `since`, inclusive, to `before`, exclusive, in milliseconds since 1970. */
export type Period = { readonly since?: number; readonly before?: number };

/** Returns the period that the filters of a list name, in local days of the practice. */
export function periodOf({ day, status }: ListFilters, { now, timeZone }: Moment): Period {
  const startAt = (days: number) => startOfDay(dayAfter(localDay(now, timeZone), days), timeZone);
  const ends = [
    ...(day === undefined ? [] : [startAt(recentDays[day].last + 1)]),
    ...(status === 'overdue' ? [overdueSince(now)] : []),
  ];
  return {
    ...(day === undefined ? {} : { since: startAt(recentDays[day].first) }),
    ...(ends.length === 0 ? {} : { before: Math.min(...ends) }),
  };
}

/** Returns the time before which a waiting request is overdue, in milliseconds since 1970. */
export const overdueSince = (now: number): number => now - overdueMs;

/** Returns the search terms of the filters for a test, a laboratory, a requester and “elsewhere”. */
export const filterTerms = ({ test, laboratory, requester, status }: ListFilters): RequestSearch =>
  [
    ...(test === undefined ? [] : [testWord(test)]),
    ...(laboratory === undefined ? [] : [laboratoryWord(laboratory)]),
    ...(requester === undefined ? [] : [requesterWord(requester)]),
    ...(status === 'elsewhere' ? [elsewhereWord] : []),
  ].map((word) => [[isWord(word)]]);
