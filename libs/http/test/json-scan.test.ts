import { countedText } from '@clinical-launch/testing/counted-text';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scanJson } from '../src/json-scan.ts';

/** Returns JSON with white space where it is allowed, and each name in one of its spellings. */
const spelt = (value: unknown, indent: number) =>
  JSON.stringify(value, undefined, indent).replaceAll('"a', '"\\u0061');

describe('the scan of a JSON text', () => {
  it('finds nothing in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), fc.nat(4), (value, indent) => {
        expect(scanJson(JSON.stringify(value, undefined, indent))).toBeUndefined();
      }),
    );
  });

  it('finds a member that is named twice, wherever it is and however it is spelt', () => {
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

  it('lets two objects have members of one name, and a value equal a name', () => {
    expect(scanJson('{"a":{"a":1},"b":[{"a":"a"},{"a":"b"}],"c":"a"}')).toBeUndefined();
  });

  it('takes 64 levels of nesting and not 65', () => {
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

  it('takes 10,000 members, or objects and lists, and not one more', () => {
    const member = (_: unknown, index: number) => `"n${index}":{"n":1}`;
    const object = (half: number) => `{${Array.from({ length: half }, member).join()}}`;
    expect(scanJson(object(5000))).toBeUndefined();
    expect(scanJson(object(5001))?.message).toBe('has more than 10000 members');
    expect(scanJson(`[${'{},'.repeat(9998)}[]]`)).toBeUndefined();
    expect(scanJson(`[${'{},'.repeat(9999)}[]]`)?.message).toBe('has more than 10000 objects and lists');
  });

  it('never throws, whatever the text is', () => {
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
    ['colons behind a long escaped text', (size) => `[${long(size)}${':'.repeat(size)}]`],
    ['colons within objects behind it', (size) => `{${long(size)}${'{  :  }    '.repeat(size / 11)}}`],
    ['members without a value behind it', (size) => `{${long(size)}${':,'.repeat(size / 2)}}`],
    ['escaped texts', (size) => `[${'"\\u0061",'.repeat(size / 9)}0]`],
    ['containers', (size) => `["${'a'.repeat(50)}"]`.repeat(size / 54)],
  ])('reads each character at most four times, however long the text is: %s', (_what, make) => {
    const text = make(100_000);
    let read = 0;
    scanJson(countedText(text, (characters) => (read += characters)));
    expect(read).toBeGreaterThanOrEqual(1000);
    expect(read).toBeLessThanOrEqual(4 * text.length);
  });
});
