import { isSearchableDay } from '@clinical-launch/contracts/formats';
import { localDay } from '@clinical-launch/contracts/time';
import { dayAfter, startOfDay } from './local-instants.ts';
import { isWord, laboratoryWord, type RequestSearch, requesterWord, testWord } from './request-search.ts';
import type { Priority, RequestStatus } from './test-request.ts';
import { takeDates } from './written-dates.ts';

/** The days of a list that are counted back from today, the first and the last. */
export const recentDays = {
  today: { first: 0, last: 0 },
  yesterday: { first: -1, last: -1 },
  week: { first: -6, last: 0 },
} as const;

/** What a list is narrowed to. Filters combine; an absent filter admits everything. */
export type ListFilters = {
  readonly day?: keyof typeof recentDays;
  /** The first and the last day, as typed; absent beside `day`. */
  readonly from?: string;
  readonly to?: string;
  /** The code of a test. */
  readonly test?: string;
  /** Overdue: has been waiting for samples for more than a day. */
  readonly status?: RequestStatus | 'overdue';
  /** As returned by `laboratoryKeyOf`. */
  readonly laboratory?: string;
  /** As returned by `codeKeyOf`, of the requester's identifier. */
  readonly requester?: string;
};

/** The search of a launch's list. It names patients, so it must not appear in an address. */
export type ListSearch = {
  readonly text: string;
  readonly priority?: Priority;
  readonly filters: ListFilters;
};

/** The number of requests on a page. */
export const pageSize = 25;
/** The number at which counting ends. */
export const maxCount = 1000;

/** The days in which typing errors of a search are looked for. */
const similarDays = 90;

/** Returns from when on typing errors of a search are looked for, in milliseconds since 1970. */
export const similarSince = (now: number): number => now - similarDays * 86_400_000;

/** A request that waits for its samples for longer is overdue. */
const overdueMs = 86_400_000;

type Moment = { readonly now: number; readonly timeZone: string };

/** Milliseconds since 1970: requests from `since` on, and made before `before`. */
export type Period = { readonly since?: number; readonly before?: number };

/**
 * Returns when the requests of a list were made, in days of the practice. Ignores a day that does not exist;
 * the earlier of two days is the first.
 */
export function periodOf({ day, from, to, status }: ListFilters, { now, timeZone }: Moment): Period {
  const [first, last] = day === undefined ? typedDays(from, to) : daysBack(recentDays[day]);
  const ends = [
    ...(last === undefined ? [] : [startOfDay(dayAfter(last, 1), timeZone)]),
    ...(status === 'overdue' ? [now - overdueMs] : []),
  ];
  return {
    ...(first === undefined ? {} : { since: startOfDay(first, timeZone) }),
    ...(ends.length === 0 ? {} : { before: Math.min(...ends) }),
  };

  function daysBack(back: { readonly first: number; readonly last: number }) {
    const today = localDay(now, timeZone);
    return [dayAfter(today, back.first), dayAfter(today, back.last)];
  }
}

function typedDays(from = '', to = ''): [string | undefined, string | undefined] {
  const [first, last] = [readDay(from), readDay(to)];
  return first !== undefined && last !== undefined && first > last ? [last, first] : [first, last];
}

/**
 * Reads a typed day as YYYY-MM-DD; undefined if it is no date, or in a year that cannot be searched. A year
 * of two digits is of this century.
 */
export function readDay(text: string): string | undefined {
  const { dates, rest } = takeDates(text);
  const day = dates.length === 1 && rest.trim() === '' ? dates[0]?.days.at(-1) : undefined;
  return day !== undefined && isSearchableDay(day) ? day : undefined;
}

/** Returns the fields with a text that is not a day. */
export const faultyDays = ({ from = '', to = '' }: ListFilters): ('from' | 'to')[] => [
  ...(from !== '' && readDay(from) === undefined ? (['from'] as const) : []),
  ...(to !== '' && readDay(to) === undefined ? (['to'] as const) : []),
];

/** Returns the terms of a search that finds the requests of a test, a laboratory and a requester. */
export const filterTerms = ({ test, laboratory, requester }: ListFilters): RequestSearch =>
  [
    ...(test === undefined ? [] : [testWord(test)]),
    ...(laboratory === undefined ? [] : [laboratoryWord(laboratory)]),
    ...(requester === undefined ? [] : [requesterWord(requester)]),
  ].map((word) => [[isWord(word)]]);
