import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTimeWriter, localDateTime, localTime, shortened, writtenDate } from '../src/time.ts';

const zones = [
  'Europe/London',
  'Europe/Dublin',
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
];

const formatters = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
);

const expected = (instant: number, zone: string) => formatters.get(zone)?.format(instant).replace(' ', 'T');

describe('localTime', () => {
  it.each(zones)('returns the same time as Intl in %s for any second of the years 1000 to 9999', (zone) => {
    const instants = fc.date({
      min: new Date('1000-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (date) => {
        expect(localTime(date.getTime(), zone)).toBe(expected(date.getTime(), zone));
      }),
      { numRuns: 2000 },
    );
  });

  it.each(zones)('returns the same time as Intl in %s around each clock change of sixty years', (zone) => {
    const minutes = Array.from({ length: 181 }, (_, minute) => (minute - 90) * 60_000);
    for (const change of changesOf(zone, 1990, 2050)) {
      const instants = minutes.flatMap((minute) => [change + minute, change + minute - 1]);
      const times = (timeOf: typeof expected) => instants.map((instant) => timeOf(instant, zone));
      // Compares whole lists, because an `expect` for each instant would be slow.
      expect(times(localTime)).toEqual(times(expected));
    }
  });

  it('changes the offset of London exactly at 01:00 UTC', () => {
    const at = (time: string) => localDateTime(time, 'Europe/London');
    expect(['2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'].map(at)).toEqual([
      '20260329005959',
      '20260329020000',
    ]);
    expect(['2026-10-25T00:59:59Z', '2026-10-25T01:00:00Z'].map(at)).toEqual([
      '20261025015959',
      '20261025010000',
    ]);
  });

  it('returns correct times for more hours than its cache can contain', () => {
    const begin = Date.parse('2026-01-01T00:30:00Z');
    const hours = Array.from({ length: 3000 }, (_, hour) => begin + hour * 3_600_000);
    const inLondon = hours.map((instant) => expected(instant, 'Europe/London'));
    for (const _round of [1, 2])
      expect(hours.map((instant) => localTime(instant, 'Europe/London'))).toEqual(inLondon);
  });
});

/** Returns the instants at which the UTC offset of a zone changes, accurate to the minute. */
function changesOf(zone: string, fromYear: number, toYear: number): number[] {
  const offset = (instant: number) => Date.parse(`${expected(instant, zone)}Z`) - instant;
  const changes: number[] = [];
  const dayMs = 86_400_000;
  let known = offset(Date.UTC(fromYear));
  for (let day = Date.UTC(fromYear); day < Date.UTC(toYear); day += dayMs) {
    const earlier = known;
    known = offset(day + dayMs);
    if (known === earlier) continue;
    let [before, after] = [day, day + dayMs];
    while (after - before > 60_000) {
      const middle = before + Math.floor((after - before) / 120_000) * 60_000;
      if (offset(middle) === earlier) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
}

describe('a written time', () => {
  it('contains the day, the full name of the month and the year', () => {
    expect(writtenDate('2026-11-21')).toBe('21 November 2026');
    expect(writtenDate('1958-02-08')).toBe('8 February 1958');
  });

  it('contains only the first three letters of the month in a table', () => {
    expect(['21 November 2026', '3 May 2026'].map(shortened)).toEqual(['21 Nov 2026', '3 May 2026']);
  });

  it('shows local time in summer and in winter, in the 24-hour clock', () => {
    const write = createTimeWriter('Europe/London');
    expect(write('2026-11-21T16:10:59Z')).toBe('21 November 2026 at 16:10');
    expect(write('2026-11-21T00:05:00Z')).toBe('21 November 2026 at 00:05');
    expect(write(Date.parse('2026-07-01T22:30:00Z'))).toBe('1 July 2026 at 23:30');
  });
});
