import { describe, expect, it } from '@jest/globals';
import { createTimeWriter, shortened, writtenDate } from '../src/time.ts';

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
