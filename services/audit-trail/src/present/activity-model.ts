import { localTime } from '@clinical-launch/contracts/time';
import { writtenClock } from '@clinical-launch/contracts/written-time';
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
  /** The beginnings of the intervals, milliseconds since 1970. */
  readonly begins: readonly number[];
  readonly timeZone: string;
};

/** Returns the charts of the last hours, and the tables with the same figures. */
export function presentActivity({ rows, begins, timeZone }: ActivityOptions) {
  const labels = begins.map((begin) => writtenClock(localTime(begin, timeZone).slice(11, 16)));
  const total = (of: readonly ActivityRow[], measure: ActivityMeasure) =>
    of.reduce((sum, row) => sum + amountOf(row, measure), 0);
  const byBegin = Map.groupBy(rows, ({ begin }) => begin);
  const valuesOf = (measure: ActivityMeasure) =>
    begins.map((begin) => total(byBegin.get(begin) ?? [], measure));
  const byClient = Map.groupBy(rows, ({ client }) => client ?? 'not known');
  return {
    measures: measureNames.map((name) => activityMeasures[name]),
    charts: measureNames.map((name) => ({
      name,
      title: activityMeasures[name],
      total: total(rows, name),
      ...chartOf(valuesOf(name), labels),
    })),
    intervals: labels.map((label, index) => ({
      label,
      values: measureNames.map((name) => total(byBegin.get(begins[index] ?? 0) ?? [], name)),
    })),
    clients: [...byClient]
      .map(([client, own]) => ({ client, values: measureNames.map((name) => total(own, name)) }))
      .toSorted((one, other) => (one.client < other.client ? -1 : 1)),
    ...refusalsOf(rows),
    isEmpty: rows.length === 0,
  };
}

const width = 320;
const height = 110;
const bottom = 22;
const top = 16;

/** Returns the geometry of a bar chart. */
function chartOf(values: readonly number[], labels: readonly string[]) {
  const max = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  const floor = height - bottom;
  const middle = Math.floor(labels.length / 2);
  return {
    width,
    height,
    floor,
    max,
    bars: values.map((value, index) => {
      const tall = value === 0 ? 0 : Math.max(2, (value / max) * (floor - top));
      return {
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

/** Returns the refusals by their reasons, the most frequent first, with a bar each. */
function refusalsOf(rows: readonly ActivityRow[]) {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const amount = amountOf(row, 'refused');
    const cause = getFaultWords(row).cause;
    if (amount > 0) counts.set(cause, (counts.get(cause) ?? 0) + amount);
  }
  const ordered = [...counts].toSorted(([, one], [, other]) => other - one);
  const max = Math.max(1, ...counts.values());
  return {
    refusals: ordered.map(([cause, count]) => ({
      cause,
      count,
      width: round(Math.max(2, (count / max) * 200)),
    })),
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;
