import { describe, expect, it } from '@jest/globals';
import { pause, withTimeout } from '../src/clock.ts';

const never = new Promise<never>(() => undefined);

describe('withTimeout', () => {
  it('returns a result that arrives in time', async () => {
    expect(await withTimeout(60_000, Promise.resolve('result'))).toBe('result');
  });

  it('rejects with the error of the promise', async () => {
    await expect(withTimeout(60_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });

  it('rejects if the result is late', async () => {
    await expect(withTimeout(1, never)).rejects.toThrow('No result within 1 ms');
    await expect(withTimeout(1, never, () => new TypeError('late'))).rejects.toThrow(TypeError);
  });
});

describe('pause', () => {
  it('resolves after the given milliseconds', async () => {
    const startedAt = performance.now();
    await pause(20);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
  });

  it('resolves early when its signal aborts', async () => {
    await expect(pause(60_000, AbortSignal.timeout(1))).resolves.toBeUndefined();
  });
});
