import { TestClock } from '@clinical-launch/testing/test-clock';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createRateLimiter, type LocalRateLimiter } from '../src/rate-limit.ts';

let clock: TestClock;
let limiter: LocalRateLimiter;
beforeEach(() => {
  clock = new TestClock();
  limiter = createRateLimiter(clock);
});

const count = (key = 'pms', perSecond: number | undefined = 5) => limiter.count(key, perSecond);
const tooMany = expect.objectContaining({
  status: 429,
  code: 'too_many_requests',
  headers: { 'Retry-After': '1' },
});

describe('a limit of five requests a second', () => {
  it('accepts five requests and refuses the sixth with Retry-After', () => {
    for (let request = 0; request < 5; request += 1) count();
    expect(() => count()).toThrow(tooMany);
  });

  it('applies to every interval of one second, not only to whole seconds of the clock', () => {
    clock.advance({ seconds: 0.9 });
    for (let request = 0; request < 5; request += 1) count();
    clock.advance({ seconds: 0.2 });
    expect(() => count()).toThrow(tooMany);
    clock.advance({ seconds: 0.799 });
    expect(() => count()).toThrow(tooMany);
    clock.advance({ seconds: 0.001 });
    expect(() => count()).not.toThrow();
  });

  it('does not count refused requests', () => {
    for (let request = 0; request < 5; request += 1) count();
    for (let request = 0; request < 50; request += 1) expect(() => count()).toThrow(tooMany);
    clock.advance({ seconds: 1 });
    expect(() => count()).not.toThrow();
  });

  it('applies to each key separately', () => {
    for (let request = 0; request < 5; request += 1) count('one');
    expect(() => count('one')).toThrow(tooMany);
    expect(() => count('other')).not.toThrow();
  });

  it('still applies after requests with 20,000 other keys', () => {
    for (let request = 0; request < 5; request += 1) count('one');
    for (let key = 0; key < 20_000; key += 1) count(`address ${key}`);
    expect(() => count('one')).toThrow(tooMany);
  });

  it('searches all keys for expired counts at most once a second', () => {
    let searches = 0;
    const { [Symbol.iterator]: search } = Map.prototype;
    Map.prototype[Symbol.iterator] = function (this: Map<unknown, unknown>) {
      searches += 1;
      return search.call(this);
    };
    try {
      for (let second = 1; second <= 2; second += 1) {
        for (let key = 0; key < 20_000; key += 1) count(`address ${key} of second ${second}`);
        expect(searches).toBe(second);
        clock.advance({ seconds: 1 });
      }
    } finally {
      Map.prototype[Symbol.iterator] = search;
    }
  });
});

describe('a key without a limit', () => {
  it('is never refused', () => {
    expect(() => {
      for (let request = 0; request < 10_000; request += 1) limiter.count('pms', undefined);
    }).not.toThrow();
  });
});
