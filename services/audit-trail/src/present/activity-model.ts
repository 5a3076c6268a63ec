import { localTime } from '@clinical-launch/contracts/time';
import {
  type ActivityMeasure,
  type ActivityRow,
  activityMeasures,
  amountOf,
  measureNames,
} from '../domain/activity.ts';
import { getFaultWords } from '../domain/fault-words.ts';

type ActivityOptions = {
  readonly rows: readonly ActivityRow[];
  /** The starts of the intervals, in milliseconds since 1970. */
  readonly begins: readonly number[];
  readonly intervalMs: number;
  /** Milliseconds since 1970 */
  readonly now: number;
  readonly timeZone: string;
};

/**
 * A figure, and the link to the events that it counts. `href` is undefined if the figure is 0 or the client
 * is unknown.
 */
type Figure = { readonly value: number; readonly href: string | undefined };
type SearchFields = Readonly<Record<string, string>>;

/** Returns the table of the last hours with a bar for each figure, and the tables of clients and refusals. */
export function presentActivity({ rows, begins, intervalMs, now, timeZone }: ActivityOptions) {
  const minuteOf = (instant: number) => localTime(instant, timeZone).slice(0, 16);
  const byBegin = Map.groupBy(rows, ({ begin }) => begin);
  const byClient = Map.groupBy(rows, ({ client }) => client ?? 'not known');
  const period = { from: minuteOf(begins[0] ?? now), to: minuteOf(now) };
  const intervals = begins.flatMap((begin) => {
    const own = byBegin.get(begin);
    // Search results include the whole minute `to`, so `to` is the last minute of the interval.
    const found = { from: minuteOf(begin), to: minuteOf(begin + intervalMs - minuteMs) };
    return own === undefined ? [] : [{ label: found.from.slice(11), values: figuresOf(own, found) }];
  });
  const all = { label: 'All', values: figuresOf(rows, period) };
  return {
    measures: measureNames.map((name) => activityMeasures[name]),
    // A bar is the share of its column.
    intervals: [...intervals, all].map(({ label, values }) => ({
      label,
      values: values.map((figure, at) => ({
        ...figure,
        percent: label === 'All' ? 0 : percentOf(figure.value, all.values[at]?.value),
      })),
    })),
    clients: [...byClient]
      .map(([client, own]) => {
        const isKnown = own.some((row) => row.client !== null);
        const found = isKnown ? { client, ...period } : undefined;
        return { client, href: found && hrefOf(found), values: figuresOf(own, found) };
      })
      .toSorted((one, other) => (one.client < other.client ? -1 : 1)),
    refusals: refusalsOf(rows, period),
    isEmpty: rows.length === 0,
  };
}

const minuteMs = 60_000;

const total = (rows: readonly ActivityRow[], measure: ActivityMeasure): number =>
  rows.reduce((sum, row) => sum + amountOf(row, measure), 0);

const figuresOf = (rows: readonly ActivityRow[], found: SearchFields | undefined): readonly Figure[] =>
  measureNames.map((name) => {
    const value = total(rows, name);
    const isLinked = value > 0 && found !== undefined;
    return { value, href: isLinked ? hrefOf({ group: name, ...found }) : undefined };
  });

const hrefOf = (found: SearchFields): string => `/audit/?${new URLSearchParams(found).toString()}#found`;

function refusalsOf(rows: readonly ActivityRow[], period: SearchFields) {
  const refused = rows.filter((row) => amountOf(row, 'refused') > 0);
  return [...Map.groupBy(refused, ({ reason }) => reason)]
    .map(([reason, own]) => ({
      reason,
      // The same reason can have different causes in events of different types.
      cause: [...new Set(own.map((row) => getFaultWords(row).cause))].join(' '),
      count: total(own, 'refused'),
      percent: percentOf(total(own, 'refused'), total(refused, 'refused')),
      href: reason === null ? undefined : hrefOf({ group: 'refused', reason, ...period }),
    }))
    .toSorted((one, other) => other.count - one.count);
}

const percentOf = (part: number, whole = 0): number => (whole === 0 ? 0 : Math.round((part / whole) * 100));
