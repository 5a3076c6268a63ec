import { describe, expect, it } from '@jest/globals';
import { isCalendarDate, isFullDateTime, isXmlText } from '../src/formats.ts';

describe('a calendar date', () => {
  it.each(['2024-02-29', '2000-02-29', '1900-02-28', '2023-12-31', '0001-01-01', '9999-12-31', '2023-04-30'])(
    'may be %s',
    (text) => expect(isCalendarDate(text)).toBe(true),
  );

  it.each([
    '2023-02-29',
    '1900-02-29',
    '2023-04-31',
    '2023-13-01',
    '2023-00-10',
    '2023-01-00',
    '2023-01-32',
    '0000-01-01',
    '2023-1-1',
    '2023-01',
    '20230101',
    '2023-01-01 ',
    '2023-01-01\n',
    '２０２３-01-01',
    '-2023-01-01',
    '2023-01-01T00:00:00Z',
    '',
  ])('must not be %j', (text) => expect(isCalendarDate(text)).toBe(false));
});

describe('a full dateTime', () => {
  it.each([
    '2023-11-06T19:43:05Z',
    '2023-11-06T19:43:05.1234567+00:00',
    '2024-02-29T00:00:00.1-11:30',
    '2023-11-06T23:59:59.123456789+14:00',
  ])('may be %s, which Date.parse also accepts', (text) => {
    expect(isFullDateTime(text)).toBe(true);
    expect(Date.parse(text)).not.toBeNaN();
  });

  it.each([
    '2023-11-06T19:43:05',
    '2023-11-06',
    '2023-11-06T19:43Z',
    '2023-02-29T19:43:05Z',
    '2023-11-06T24:00:00Z',
    '2023-11-06T19:60:05Z',
    '2023-11-06T19:43:60Z',
    '2023-11-06t19:43:05z',
    '2023-11-06 19:43:05Z',
    '2023-11-06T19:43:05.Z',
    '2023-11-06T19:43:05.1234567890Z',
    '2023-11-06T19:43:05+0000',
    '2023-11-06T19:43:05+14:30',
    '2023-11-06T19:43:05+00:60',
    '2023-11-06T19:43:05Z\n',
    '',
  ])('must not be %j', (text) => expect(isFullDateTime(text)).toBe(false));
});

describe('text that is allowed in XML 1.0', () => {
  it.each(['', 'plain', '\t\n\r', '\u{20}\u{d7ff}\u{e000}\u{fffd}', '\u{10000}\u{10ffff}', '<&>"\''])(
    'may be %j',
    (text) => expect(isXmlText(text)).toBe(true),
  );

  it.each([
    '\0',
    '\u{1}',
    '\u{8}',
    '\u{b}',
    '\u{c}',
    '\u{1f}',
    '\ud800',
    '\udc00',
    '\udc00\ud800',
    '\ufffe',
    '\uffff',
  ])('must not contain %j', (character) => {
    expect(isXmlText(character)).toBe(false);
    expect(isXmlText(`before${character}after`)).toBe(false);
  });
});
