import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { appendEntry, removeValue, setValue } from '../../src/registry/edit-json.ts';

const value = fc.oneof(
  fc.string(),
  fc.constant('[ like, a  list ]'),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.record({
    'a "quoted" name': fc.string(),
    list: fc.array(fc.record({ b: fc.integer() }), { maxLength: 2 }),
  }),
);
const entries = fc.array(value, { minLength: 1, maxLength: 4 });
/** The indentation of the JSON text: none, spaces or a tab. */
const style = fc.constantFrom('', '  ', '    ', '\t');
const written = (content: unknown, indent: string) => JSON.stringify(content, undefined, indent);

describe('an edit of a JSON text', () => {
  it('appends, sets and removes exactly the named value, however the text is indented', () => {
    fc.assert(
      fc.property(entries, value, fc.nat(), style, (list, added, seed, indent) => {
        const at = seed % list.length;
        const text = written({ list, more: {} }, indent);
        const read = (edited: string): unknown => JSON.parse(edited);
        expect(read(appendEntry(text, ['list'], added))).toEqual({ list: [...list, added], more: {} });
        expect(read(setValue(text, ['more', 'name'], added))).toEqual({ list, more: { name: added } });
        expect(read(setValue(text, ['list', at], added))).toEqual({ list: list.with(at, added), more: {} });
        expect(read(removeValue(text, ['list', at]))).toEqual({ list: list.toSpliced(at, 1), more: {} });
        expect(read(removeValue(text, ['list']))).toEqual({ more: {} });
      }),
    );
  });

  it('keeps all other lines, so removing an added value restores the text', () => {
    fc.assert(
      fc.property(entries, value, style, (list, added, indent) => {
        const text = written({ list, other: [1, 2] }, indent);
        const appended = appendEntry(text, ['list'], added);
        expect(removeValue(appended, ['list', list.length])).toBe(text);
        const set = setValue(text, ['new'], added);
        expect(removeValue(set, ['new'])).toBe(text);
      }),
    );
  });

  it('keeps line endings, and writes short lists on one line', () => {
    const text = '{\r\n  "a": [\r\n    "x"\r\n  ]\r\n}\r\n';
    expect(setValue(text, ['b'], { list: ['x', 'y'] })).toBe(
      '{\r\n  "a": [\r\n    "x"\r\n  ],\r\n  "b": {\r\n    "list": ["x", "y"]\r\n  }\r\n}\r\n',
    );
  });

  it('refuses to remove a missing value', () => {
    expect(() => removeValue('{}', ['a'])).toThrow(TypeError);
  });
});
