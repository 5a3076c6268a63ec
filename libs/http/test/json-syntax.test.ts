import { countedText } from '@clinical-launch/testing/counted-text';
import { runsOf } from '@clinical-launch/testing/runs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scanJson } from '../src/body.ts';
import { findJsonSyntaxFault, placeIn } from '../src/json-syntax.ts';

/**
 * Returns the position in the error of JSON.parse. Returns undefined if JSON.parse accepts the text, and NaN
 * if the error contains no position.
 */
function placeOfParser(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as SyntaxError;
    if (message.startsWith('Unexpected end of JSON input')) return text.length;
    return Number(/at position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  }
}

describe('the position of a JSON syntax error', () => {
  it.each([
    ['', 0, 'a value is required'],
    [' \n', 2, 'a value is required'],
    ["{'a': 1}", 1, 'the name of a member, in double quotes, or the end of the object is required'],
    ['{"a": 1, }', 9, 'the name of a member is required, in double quotes'],
    ['{"a" 1}', 5, 'a colon is required'],
    ['{"a": undefined}', 6, 'a value is required'],
    ['{"a": nul}', 6, 'a value is required'],
    ['{"a": 01}', 7, 'a comma or the end of the object is required'],
    ['{"a": [1 2]}', 9, 'a comma or the end of the list is required'],
    ['{"a": [,]}', 7, 'a value or the end of the list is required'],
    ['{"a": [1,]}', 9, 'a value is required'],
    ['{"a": [1}', 8, 'a comma or the end of the list is required'],
    ['{"a": {"b": []}, "c": [{}]', 26, 'a comma or the end of the object is required'],
    ['{}}', 2, 'nothing is allowed after the end'],
    ['[] []', 3, 'nothing is allowed after the end'],
    ['"a\nb"', 2, 'a control character in a text must be escaped'],
    ['"a\\x41"', 2, 'the escape is unknown'],
    ['"a\\u12"', 2, 'the escape is unknown'],
    ['"a', 2, 'the closing quotation mark of a text is missing'],
    ['"a\\', 2, 'the escape is unknown'],
  ])('in %j is %i, with the message that %s', (text, at, what) => {
    expect(findJsonSyntaxFault(text)).toEqual({ at, message: `is not JSON: ${what}`, code: 'structure' });
  });

  it('equals the position that JSON.parse reports, or the position before it for an unknown escape', () => {
    const name = fc.stringMatching(/^[a-e"\\\n]{0,4}$/);
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, fc.constant(7), name, tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      object: fc.dictionary(name, tie('any'), { maxKeys: 3 }),
    })).any;
    const change = fc.constantFrom('', '{', '}', '[', ']', ':', ',', '"', ' ', '\n');
    const compared = new Set<number | undefined>();
    fc.assert(
      fc.property(value, fc.nat(), change, fc.nat(1), (json, where, put, taken) => {
        const text = JSON.stringify(json, undefined, 1);
        const at = where % (text.length + 1);
        const changed = text.slice(0, at) + put + text.slice(at + taken);
        const stopped = placeOfParser(changed);
        if (stopped === undefined || Number.isNaN(stopped)) return;
        compared.add(stopped);
        // For an unknown escape, JSON.parse reports the position after the backslash.
        const ours = findJsonSyntaxFault(changed);
        expect(stopped - ours.at).toBe(
          ours.message.includes('escape is unknown') && stopped < changed.length ? 1 : 0,
        );
      }),
      { numRuns: runsOf(3000) },
    );
    expect(compared.size).toBeGreaterThan(10);
  });

  it('is found by reading each character of a long text at most four times', () => {
    const size = 100_000;
    const broken = `["${'\\u0061 '.repeat(size / 8)}", ${'[{"a": 1}],'.repeat(size / 22)}`;
    let read = 0;
    findJsonSyntaxFault(countedText(broken, (characters) => (read += characters)));
    expect(read).toBeGreaterThanOrEqual(1000);
    expect(read).toBeLessThanOrEqual(4 * broken.length);
  });

  it('is converted to a line and a column, which count code points and begin at one', () => {
    expect(placeIn('abc', 0)).toEqual({ line: 1, column: 1 });
    expect(placeIn('\u{20bb7}b', 2)).toEqual({ line: 1, column: 2 });
    expect(placeIn('a\nb\r\nc\rdef', 8)).toEqual({ line: 4, column: 2 });
  });
});

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
