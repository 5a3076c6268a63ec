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
/** The parameters of the address of a page of results. */
type Found = Readonly<Record<string, string>>;

/** Returns the charts of the last hours, and tables of the same figures. */
export function presentActivity({ rows, begins, intervalMs, now, timeZone }: ActivityOptions) {
  const minuteOf = (instant: number) => localTime(instant, timeZone).slice(0, 16);
  const labels = begins.map((begin) => minuteOf(begin).slice(11));
  const byBegin = Map.groupBy(rows, ({ begin }) => begin);
  const byClient = Map.groupBy(rows, ({ client }) => client ?? 'not known');
  const period = { from: minuteOf(begins[0] ?? now), to: minuteOf(now) };
  const intervals = begins.map((begin, index) => {
    // Search results include the whole minute `to`, so `to` is the last minute of the interval.
    const found = { from: minuteOf(begin), to: minuteOf(begin + intervalMs - minuteMs) };
    return { label: labels[index], values: figuresOf(byBegin.get(begin) ?? [], found) };
  });
  return {
    measures: measureNames.map((name) => activityMeasures[name]),
    charts: measureNames.map((name, at) => ({
      name,
      title: activityMeasures[name],
      total: total(rows, name),
      ...chartOf(
        intervals.flatMap(({ values }) => values[at] ?? []),
        labels,
      ),
    })),
    intervals,
    clients: [...byClient]
      .map(([client, own]) => {
        const isKnown = own.some((row) => row.client !== null);
        const found = isKnown ? { client, ...period } : undefined;
        return { client, href: found && hrefOf(found), values: figuresOf(own, found) };
      })
      .toSorted((one, other) => (one.client < other.client ? -1 : 1)),
    ...refusalsOf(rows, period),
    isEmpty: rows.length === 0,
  };
}

const minuteMs = 60_000;

const total = (rows: readonly ActivityRow[], measure: ActivityMeasure): number =>
  rows.reduce((sum, row) => sum + amountOf(row, measure), 0);

const figuresOf = (rows: readonly ActivityRow[], found: Found | undefined): readonly Figure[] =>
  measureNames.map((name) => {
    const value = total(rows, name);
    const isLinked = value > 0 && found !== undefined;
    return { value, href: isLinked ? hrefOf({ group: name, ...found }) : undefined };
  });

const hrefOf = (found: Found): string => `/audit/?${new URLSearchParams(found).toString()}#found`;

const width = 320;
const height = 110;
const bottom = 22;
const top = 16;

function chartOf(figures: readonly Figure[], labels: readonly (string | undefined)[]) {
  const max = Math.max(1, ...figures.map(({ value }) => value));
  const step = width / Math.max(1, figures.length);
  const floor = height - bottom;
  const middle = Math.floor(labels.length / 2);
  return {
    width,
    height,
    floor,
    top,
    max,
    bars: figures.map(({ value, href }, index) => {
      const tall = value === 0 ? 0 : Math.max(2, (value / max) * (floor - top));
      return {
        href,
        title: `${labels[index]}: ${value}`,
        x: round(index * step + step * 0.12),
        y: round(floor - tall),
        width: round(step * 0.76),
        height: round(tall),
      };
    }),
    ticks: [
      { x: 0, anchor: 'start', text: labels[0] },
      { x: round((middle + 0.5) * step), anchor: 'middle', text: labels[middle] },
      { x: width, anchor: 'end', text: labels.at(-1) },
    ],
  };
}

/** Returns the refusals grouped by reason, most frequent first, with a bar for each. */
function refusalsOf(rows: readonly ActivityRow[], period: Found) {
  const refused = rows.filter((row) => amountOf(row, 'refused') > 0);
  const counted = [...Map.groupBy(refused, ({ reason }) => reason)]
    .map(([reason, own]) => ({
      reason,
      // The same reason can have different causes in events of different types.
      cause: [...new Set(own.map((row) => getFaultWords(row).cause))].join(' '),
      count: total(own, 'refused'),
      href: reason === null ? undefined : hrefOf({ group: 'refused', reason, ...period }),
    }))
    .toSorted((one, other) => other.count - one.count);
  const max = Math.max(1, ...counted.map(({ count }) => count));
  const sum = Math.max(1, total(refused, 'refused'));
  return {
    refusals: counted.map((one) => ({
      ...one,
      width: round(Math.max(2, (one.count / max) * 200)),
      percent: Math.round((one.count / sum) * 100),
    })),
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;
