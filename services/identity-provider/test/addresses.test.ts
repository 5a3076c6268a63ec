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
  ])('appends a parameter to %s and leaves the rest of the address unchanged', (address, expected) => {
    expect(withParameters(address, { a: '1' })).toBe(expected);
  });

  it('encodes a value so that URLSearchParams and decodeURIComponent both decode it', () => {
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
  ])('for %s returns %s outside production and %s in production', (address, outside, inside) => {
    expect([false, true].map((isProduction) => isCallable(address, { isProduction }))).toEqual([
      outside,
      inside,
    ]);
  });
});
