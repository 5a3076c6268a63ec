import { countedText } from '@clinical-launch/testing/counted-text';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scanJson } from '../src/body.ts';

/** Returns JSON with optional white space. Writes a leading `a` in names as an escape sequence. */
const spelt = (value: unknown, indent: number) =>
  JSON.stringify(value, undefined, indent).replaceAll('"a', '"\\u0061');

describe('scanJson', () => {
  it('accepts every output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), fc.nat(4), (value, indent) => {
        expect(scanJson(JSON.stringify(value, undefined, indent))).toBeUndefined();
      }),
    );
  });

  it('finds a duplicate member at any position, even if one of the names is written with escapes', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('a', '__proto__', '"', '\\', ':', '{'),
    );
    fc.assert(
      fc.property(name, fc.jsonValue(), fc.jsonValue(), fc.nat(2), (member, one, other, indent) => {
        const first = `${JSON.stringify(member)}:${JSON.stringify(one)}`;
        const second = `${spelt(member, 0)} : ${JSON.stringify(other, undefined, indent)}`;
        expect(scanJson(`[{"x${member.length}":{${first},${second}}}]`)).toMatchObject({
          message: 'names a member of an object twice',
          code: 'duplicate',
        });
      }),
    );
  });

  it('accepts a name that occurs in two objects and as a value', () => {
    expect(scanJson('{"a":{"a":1},"b":[{"a":"a"},{"a":"b"}],"c":"a"}')).toBeUndefined();
  });

  it('accepts 64 levels of nesting and refuses 65', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const nested = (levels: number) => `${open?.repeat(levels)}1${close?.repeat(levels)}`;
      expect(scanJson(nested(64))).toBeUndefined();
      expect(scanJson(nested(65))?.message).toBe('is nested deeper than 64 levels');
    }
    expect(scanJson(`[${'[],'.repeat(1000)}[]]`)).toBeUndefined();
    expect(scanJson(JSON.stringify('['.repeat(1000)))).toBeUndefined();
  });

  it('accepts at most 10,000 members, and at most 10,000 objects and lists', () => {
    const member = (_: unknown, index: number) => `"n${index}":{"n":1}`;
    const object = (half: number) => `{${Array.from({ length: half }, member).join()}}`;
    expect(scanJson(object(5000))).toBeUndefined();
    expect(scanJson(object(5001))?.message).toBe('has more than 10000 members');
    expect(scanJson(`[${'{},'.repeat(9998)}[]]`)).toBeUndefined();
    expect(scanJson(`[${'{},'.repeat(9999)}[]]`)?.message).toBe('has more than 10000 objects and lists');
  });

  it('never throws for any text', () => {
    const unit = fc.constantFrom('{', '}', '[', ']', ':', ',', '"', '\\', 'a', 'u', '0', ' ');
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(typeof scanJson(text)).toMatch(/^(undefined|object)$/);
      }),
    );
  });

  const long = (size: number) => `"\\u0061${'a'.repeat(size)}"`;

  it.each<readonly [string, (size: number) => string]>([
    [
      'members',
      (size) =>
        `{${Array.from({ length: size / 40 }, (_, index) => `"n${index}":"${'1'.repeat(30)}"`).join()}}`,
    ],
    ['colons after a long escaped text', (size) => `[${long(size)}${':'.repeat(size)}]`],
    [
      'colons in objects after a long escaped text',
      (size) => `{${long(size)}${'{  :  }    '.repeat(size / 11)}}`,
    ],
    [
      'members without a value after a long escaped text',
      (size) => `{${long(size)}${':,'.repeat(size / 2)}}`,
    ],
    ['escaped texts', (size) => `[${'"\\u0061",'.repeat(size / 9)}0]`],
    ['containers', (size) => `["${'a'.repeat(50)}"]`.repeat(size / 54)],
  ])('reads each character of a long text at most four times: %s', (_what, make) => {
    const text = make(100_000);
    let read = 0;
    scanJson(countedText(text, (characters) => (read += characters)));
    expect(read).toBeGreaterThanOrEqual(1000);
    expect(read).toBeLessThanOrEqual(4 * text.length);
  });
});
