import { withParameters } from '@clinical-launch/contracts/addresses';
import { describe, expect, it } from '@jest/globals';
import { isCallable } from '../src/domain/addresses.ts';

describe('withParameters', () => {
  it.each([
    ['https://p.example', 'https://p.example?a=1'],
    ['https://p.example/', 'https://p.example/?a=1'],
    ['https://p.example/l?', 'https://p.example/l?a=1'],
    ['https://p.example/l?x=%20+y', 'https://p.example/l?x=%20+y&a=1'],
    ['https://p.example/l?x&', 'https://p.example/l?x&a=1'],
    ['partnerapp://launch', 'partnerapp://launch?a=1'],
    ['com.example.app:/launch', 'com.example.app:/launch?a=1'],
  ])('leaves the address %s unchanged', (address, expected) => {
    expect(withParameters(address, { a: '1' })).toBe(expected);
  });

  it('encodes values so that every parser decodes them', () => {
    const address = withParameters('p://l', { a: ' +&=#%é🌸' });
    expect(new URL(address).searchParams.get('a')).toBe(' +&=#%é🌸');
    expect(decodeURIComponent(address.slice('p://l?a='.length))).toBe(' +&=#%é🌸');
  });
});

describe('isCallable', () => {
  it.each([
    ['https://p.example/launch', true, true],
    ['http://p.example/launch', true, false],
    ['http://127.0.0.1/launch', true, false],
    ['http://[::1]/launch', true, false],
    ['partnerapp://launch', false, false],
    ['httpsx://launch', false, false],
    ['ftp://p.example/launch', false, false],
  ])('returns for %s: outside production %s, in production %s', (address, outside, inside) => {
    expect([false, true].map((isProduction) => isCallable(address, { isProduction }))).toEqual([
      outside,
      inside,
    ]);
  });
});
