import { describe, expect, it } from '@jest/globals';
import { drawBytes } from '../src/sealing.ts';

describe('drawBytes', () => {
  it('returns the requested number of bytes, and never returns the same bytes twice', () => {
    const sizes = [1, 12, 16, 32, 4095, 4096, 4097, 10_000];
    expect(sizes.map((size) => drawBytes(size).length)).toEqual(sizes);
    const drawn = Array.from({ length: 10_000 }, () => drawBytes(16).toString('hex'));
    expect(new Set(drawn).size).toBe(drawn.length);
  });

  it('returns bytes that later calls do not overwrite', () => {
    const first = drawBytes(32);
    const before = first.toString('hex');
    for (let draw = 0; draw < 1000; draw += 1) drawBytes(32);
    expect(first.toString('hex')).toBe(before);
  });
});
