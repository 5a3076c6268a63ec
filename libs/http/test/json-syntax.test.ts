import { countedText } from '@clinical-launch/testing/counted-text';
import { runsOf } from '@clinical-launch/testing/runs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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
