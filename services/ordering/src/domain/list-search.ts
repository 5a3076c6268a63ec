import { isSearchableDay } from '@clinical-launch/contracts/formats';
import { localDay } from '@clinical-launch/contracts/time';
import { dayAfter, startOfDay } from './local-instants.ts';
import { isWord, laboratoryWord, type RequestSearch, requesterWord, testWord } from './request-search.ts';
import type { Priority, RequestStatus } from './test-request.ts';
import { takeDates } from './written-dates.ts';

/** Periods relative to today: the first and the last day. */
export const recentDays = {
  today: { first: 0, last: 0 },
  yesterday: { first: -1, last: -1 },
  week: { first: -6, last: 0 },
} as const;

/** The filters of a list. They combine; an absent filter admits every request. */
export type ListFilters = {
  readonly day?: keyof typeof recentDays;
  /** The first and the last day, as typed; absent if `day` is present. */
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

/** The search of a launch's list. It names patients, so it must not appear in a URL. */
export type ListSearch = {
  readonly text: string;
  readonly priority?: Priority;
  readonly filters: ListFilters;
};

/** The number of requests on a page. */
export const pageSize = 25;
/** The number at which counting stops. */
export const maxCount = 1000;

/** How many days back a search allows for typing errors. */
const similarDays = 90;

/** Returns since when a search allows for typing errors, in milliseconds since 1970. */
export const similarSince = (now: number): number => now - similarDays * 86_400_000;

/** A request that has waited longer for its samples is overdue. */
const overdueMs = 86_400_000;

type Moment = { readonly now: number; readonly timeZone: string };

/** Milliseconds since 1970: requests from `since` on, and made before `before`. */
export type Period = { readonly since?: number; readonly before?: number };

/**
 * Returns the period in which the requests of a list were made, in the practice's local days. Ignores an
 * invalid day, and accepts the two days in either order.
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
 * Reads a typed day as YYYY-MM-DD; undefined if it is not a date, or its year cannot be searched. A two-digit
 * year is in this century.
 */
export function readDay(text: string): string | undefined {
  const { dates, rest } = takeDates(text);
  const day = dates.length === 1 && rest.trim() === '' ? dates[0]?.days.at(-1) : undefined;
  return day !== undefined && isSearchableDay(day) ? day : undefined;
}

/** Returns the fields whose text is not a date. */
export const faultyDays = ({ from = '', to = '' }: ListFilters): ('from' | 'to')[] => [
  ...(from !== '' && readDay(from) === undefined ? (['from'] as const) : []),
  ...(to !== '' && readDay(to) === undefined ? (['to'] as const) : []),
];

/** Returns the search terms that find the requests of a test, a laboratory and a requester. */
export const filterTerms = ({ test, laboratory, requester }: ListFilters): RequestSearch =>
  [
    ...(test === undefined ? [] : [testWord(test)]),
    ...(laboratory === undefined ? [] : [laboratoryWord(laboratory)]),
    ...(requester === undefined ? [] : [requesterWord(requester)]),
  ].map((word) => [[isWord(word)]]);
