import { describe, expect, it } from '@jest/globals';
import { collectionNow, readCollectionEntry, writeCollectionEntry } from '../src/domain/collection-entry.ts';
import type { CollectionEntry } from '../src/domain/draft.ts';

type Typed = { by?: string; date?: string; time?: string };

/**
 * Returns the entry of a sample that was collected on 2 March 2026 at 9:05am. `date` contains the typed day,
 * month and year, with a space between them.
 */
function anEntry({ by = 'Nurse Hill', date = '2 3 2026', time = '9:05' }: Typed = {}): CollectionEntry {
  const [day = '', month = '', year = ''] = date.split(' ');
  return { by, date: { day, month, year }, time };
}

const read = (typed: Typed, { now = '2026-03-02T09:30:00Z', timeZone = 'Europe/London' } = {}) =>
  readCollectionEntry(anEntry(typed), { now: Date.parse(now), timeZone });

const instantOf = (reading: ReturnType<typeof read>) =>
  'collected' in reading ? reading.collected.at : reading.faults;

const faultsOf = (reading: ReturnType<typeof read>) =>
  'faults' in reading
    ? reading.faults.map(({ field, message }) => `${field}: ${message}`)
    : reading.collected;

describe('readCollectionEntry', () => {
  it.each([
    ['9:05', '09:05'],
    ['09:05', '09:05'],
    ['0905', '09:05'],
    ['905', '09:05'],
    ['9.05', '09:05'],
    [' 9:05AM ', '09:05'],
    ['9 am', '09:00'],
    ['12:15am', '00:15'],
    ['0:00', '00:00'],
  ])('reads the time %p', (time, clock) => {
    expect(instantOf(read({ time }))).toBe(`2026-03-02T${clock}:00.000Z`);
  });

  it.each([
    ['12:15pm', '12:15'],
    ['2:05 pm', '14:05'],
    ['23:59', '23:59'],
  ])('reads the time %p, which is after noon', (time, clock) => {
    expect(instantOf(read({ date: '1 3 2026', time }))).toBe(`2026-03-01T${clock}:00.000Z`);
  });

  it.each(['Mar', 'march', 'MARCH', ' Marc '])('reads the month %p', (month) => {
    const { date, ...others } = anEntry();
    const reading = readCollectionEntry(
      { ...others, date: { ...date, month } },
      { now: Date.parse('2026-03-02T09:30:00Z'), timeZone: 'Europe/London' },
    );
    expect(instantOf(reading)).toBe('2026-03-02T09:05:00.000Z');
  });

  it.each(['24:00', '9:60', '9', '13:05pm', '0:05am', '9:5', '-9:05', '9:05:30', 'noon', '٠٩:٠٥'])(
    'refuses the time %p',
    (time) => {
      expect(faultsOf(read({ time }))).toEqual(['time: The time must be a real time, like 9:05 or 14:30']);
    },
  );

  it.each([
    ['29 2 2026', 'The date must be a real date'],
    ['31 2 2026', 'The date must be a real date'],
    ['0 3 2026', 'The date must be a real date'],
    ['1 13 2026', 'The date must be a real date'],
    ['1 0 2026', 'The date must be a real date'],
    ['1 Ma 2026', 'The date must be a real date'],
    ['1 Marchx 2026', 'The date must be a real date'],
    ['1 3 026', 'The date must be a real date'],
    ['1 3 12026', 'The date must be a real date'],
    ['1 3 0026', 'The date must be a real date'],
    ['1 3 1000', 'The date must be within the last 60 days'],
    ['1 3 2999', 'The date must be today or in the past'],
    ['1e0 3 2026', 'The date must be a real date'],
    ['', 'Enter when the sample was collected'],
    [' 3 2026', 'The date must include a day'],
    ['1', 'The date must include a month and year'],
    ['3 3 2026', 'The date must be today or in the past'],
    ['31 12 2025', 'The date must be within the last 60 days'],
    ['29 2 2024', 'The date must be within the last 60 days'],
    ['29 2 1900', 'The date must be a real date'],
  ])('refuses the date %p: %s', (date, message) => {
    expect(faultsOf(read({ date }))).toEqual([`date: ${message}`]);
  });

  it('reads 29 February of a leap year, and a year of two digits', () => {
    expect(instantOf(read({ date: '29 02 24' }, { now: '2024-03-01T09:30:00Z' }))).toBe(
      '2024-02-29T09:05:00.000Z',
    );
  });

  it.each([
    ['09:31', '2026-03-02T09:31:00.000Z'],
    ['09:32', [{ field: 'time', message: 'The time must be now or in the past' }]],
  ])('accepts only times up to one minute in the future: at 09:30, the time %s', (time, expected) => {
    expect(instantOf(read({ time }))).toEqual(expected);
  });

  it.each([
    ['09:30', '2026-01-01T09:30:00.000Z'],
    ['09:29', [{ field: 'date', message: 'The date must be within the last 60 days' }]],
  ])(
    'accepts a time exactly 60 days ago and refuses an earlier time: now 09:30, 60 days ago at %s',
    (time, expected) => {
      expect(instantOf(read({ date: '1 1 2026', time }))).toEqual(expected);
    },
  );

  it.each([
    ['Nurse Hill', 'Nurse Hill'],
    ['  Nurse\r\n\tHill \u0000', 'Nurse Hill'],
    ['Siân Ó Briain', 'Siân Ó Briain'],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('reads the name %j as one line', (by, kept) => {
    expect(read({ by })).toEqual({ collected: { at: '2026-03-02T09:05:00.000Z', by: kept } });
  });

  it('returns all errors at once', () => {
    expect(faultsOf(read({ by: ' \u0000', date: '', time: '' }))).toEqual([
      'by: Enter who collected the sample',
      'date: Enter when the sample was collected',
      'time: Enter the time the sample was collected',
    ]);
    expect(faultsOf(read({ by: 'x'.repeat(101) }))).toEqual([
      'by: Who collected the sample must be 100 characters or fewer',
    ]);
  });
});

describe('the date and time of a collection entry', () => {
  it.each([
    ['winter time', 'Europe/London', '2 3 2026', '09:05', '2026-03-02T12:00:00Z', '2026-03-02T09:05:00.000Z'],
    ['summer time', 'Europe/London', '2 7 2026', '09:05', '2026-07-02T12:00:00Z', '2026-07-02T08:05:00.000Z'],
    [
      'a zone in the east',
      'Asia/Kathmandu',
      '2 3 2026',
      '09:05',
      '2026-03-02T12:00:00Z',
      '2026-03-02T03:20:00.000Z',
    ],
    [
      'a zone in the far west',
      'Pacific/Pago_Pago',
      '1 3 2026',
      '20:00',
      '2026-03-02T12:00:00Z',
      '2026-03-02T07:00:00.000Z',
    ],
    [
      'a zone in the far east',
      'Pacific/Kiritimati',
      '3 3 2026',
      '01:00',
      '2026-03-02T12:00:00Z',
      '2026-03-02T11:00:00.000Z',
    ],
    [
      'before the clocks go forward',
      'Europe/London',
      '29 3 2026',
      '00:59',
      '2026-03-29T12:00:00Z',
      '2026-03-29T00:59:00.000Z',
    ],
    [
      'after the clocks go forward',
      'Europe/London',
      '29 3 2026',
      '02:00',
      '2026-03-29T12:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'a repeated hour, both past',
      'Europe/London',
      '25 10 2026',
      '01:30',
      '2026-10-25T12:00:00Z',
      '2026-10-25T01:30:00.000Z',
    ],
    [
      'a repeated hour, only the first past',
      'Europe/London',
      '25 10 2026',
      '01:30',
      '2026-10-25T00:40:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'a repeated hour in the west',
      'America/New_York',
      '1 11 2026',
      '01:30',
      '2026-11-01T12:00:00Z',
      '2026-11-01T06:30:00.000Z',
    ],
    [
      'a repeated half hour',
      'Australia/Lord_Howe',
      '5 4 2026',
      '01:45',
      '2026-04-05T12:00:00Z',
      '2026-04-04T15:15:00.000Z',
    ],
  ])('are read in the practice’s time zone: %s (%s): %s at %s', (_case, timeZone, date, time, now, at) => {
    expect(instantOf(read({ date, time }, { now, timeZone }))).toBe(at);
  });

  it.each(['01:00', '01:30', '01:59'])('are refused in the hour that the clocks skipped: %s', (time) => {
    expect(faultsOf(read({ date: '29 3 2026', time }, { now: '2026-03-29T12:00:00Z' }))).toEqual([
      'time: The clocks went forward, so this time did not exist. Enter another time',
    ]);
  });

  it('are compared with the date at the practice, not at the server', () => {
    // 1 July 00:30 in London is still 30 June in UTC.
    const now = '2026-06-30T23:30:00Z';
    expect(instantOf(read({ date: '1 7 2026', time: '0:15' }, { now }))).toBe('2026-06-30T23:15:00.000Z');
    expect(faultsOf(read({ date: '1 7 2026', time: '0:45' }, { now }))).toEqual([
      'time: The time must be now or in the past',
    ]);
  });

  it.each([
    ['2026-03-02T09:05:59.900Z', 'Europe/London', anEntry({ by: 'A', time: '09:05' })],
    ['2026-06-30T23:15:00Z', 'Europe/London', anEntry({ by: 'A', date: '1 7 2026', time: '00:15' })],
    ['2026-12-31T13:00:00Z', 'Pacific/Auckland', anEntry({ by: 'A', date: '1 1 2027', time: '02:00' })],
  ])('are formatted from the instant %s in the time zone %s', (at, timeZone, entry) => {
    expect(writeCollectionEntry({ at, by: 'A' }, timeZone)).toEqual(entry);
  });

  it.each(['2026-03-29T00:59:30Z', '2026-03-29T01:00:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:30:10Z'])(
    'are read as the minute in which the page offered them: %s',
    (now) => {
      const entry = collectionNow(Date.parse(now), 'Nurse Hill', 'Europe/London');
      expect(readCollectionEntry(entry, { now: Date.parse(now), timeZone: 'Europe/London' })).toEqual({
        collected: { at: new Date(`${now.slice(0, 16)}Z`).toISOString(), by: 'Nurse Hill' },
      });
    },
  );
});
