import { describe, expect, it } from '@jest/globals';
import { Type } from 'typebox';
import { compileSchema, faultWithin, maxFaults, pathOf } from '../src/index.ts';

const name = Type.Object({
  family: Type.String({ minLength: 1, maxLength: 4 }),
  given: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2 })),
  use: Type.Optional(Type.Enum(['usual', 'old'])),
  kind: Type.Optional(Type.Literal('name')),
  only: Type.Optional(Type.Enum(['this'])),
  code: Type.Optional(Type.String({ pattern: '^[A-Z]$', description: 'must be a capital letter' })),
  bare: Type.Optional(Type.String({ pattern: '^[A-Z]$' })),
  born: Type.Optional(Type.String({ format: 'calendar-date' })),
  closed: Type.Optional(Type.Object({}, { additionalProperties: false })),
  one: Type.Optional(Type.Array(Type.String(), { maxItems: 1 })),
});
const compiled = compileSchema(
  Type.Object({ contained: Type.Array(Type.Object({ name: Type.Array(name) })) }),
);

const faultsOf = (candidate: unknown) => compiled.faultsOf({ contained: [{ name: [candidate] }] });
const valid = { family: 'Abcd', given: ['a'], use: 'old', code: 'A', born: '2024-02-29', closed: {} };

describe('a fault', () => {
  it('is not found in a value that is as the schema has it', () => {
    expect(faultsOf(valid)).toEqual([]);
    expect(compiled.is({ contained: [{ name: [valid] }] })).toBe(true);
  });

  it.each([
    ['family', { family: undefined }, 'is required'],
    ['family', { family: 'Abcde' }, 'must have at most 4 characters'],
    ['family', { family: '' }, 'must not be empty'],
    ['family', { family: 1 }, 'must be of type string'],
    ['given', { given: [] }, 'must have at least 1 entry'],
    ['given', { given: ['a', 'b', 'c'] }, 'must have at most 2 entries'],
    ['one', { one: ['a', 'b'] }, 'must have at most 1 entry'],
    ['given[1]', { given: ['a', 2] }, 'must be of type string'],
    ['use', { use: 'maiden' }, 'must be one of usual, old'],
    ['only', { only: 'that' }, 'must be this'],
    ['kind', { kind: 'other' }, 'must be name'],
    ['code', { code: 'a' }, 'must be a capital letter'],
    ['bare', { bare: 'a' }, 'is not of the form that is asked for'],
    ['born', { born: '2023-02-29' }, 'must be a real date, written YYYY-MM-DD'],
    ['closed', { closed: { secret: 1 } }, 'has a property that is not known here'],
  ])('names %s of the value and says what to do: %j', (path, change, message) => {
    expect(faultsOf({ ...valid, ...change })).toEqual([{ path: `contained[0].name[0].${path}`, message }]);
  });

  it('counts characters as people do: code points, not UTF-16 units', () => {
    expect(faultsOf({ family: '\u{20bb7}'.repeat(4) })).toEqual([]);
    expect(faultsOf({ family: '\u{20bb7}'.repeat(5) })).toHaveLength(1);
  });

  it('never holds a value', () => {
    const value = 'Whitfield';
    const all = {
      family: value,
      given: value,
      use: value,
      kind: value,
      code: value,
      born: value,
      [value]: 1,
    };
    const said = JSON.stringify(faultsOf({ ...all, closed: { [value]: value } }));
    expect(said).not.toContain(value);
  });

  it('is told together with all the others, up to a bound', () => {
    expect(faultsOf({ family: '', given: [], use: 1, code: 1 })).toHaveLength(4);
    const many = { contained: Array.from({ length: maxFaults + 50 }, () => ({})) };
    expect(compiled.faultsOf(many)).toHaveLength(maxFaults);
  });
});

describe('a path', () => {
  it.each([
    ['', ''],
    ['/contained/1/name', 'contained[1].name'],
    ['/0/name', '[0].name'],
    ['/a~1b/c~0d', 'a/b.c~d'],
    ['/a~01', 'a~1'],
  ])('of %j is %j', (pointer, path) => {
    expect(pathOf(pointer)).toBe(path);
  });

  it('goes on with further steps', () => {
    expect(pathOf('/name/0', 'family')).toBe('name[0].family');
  });

  it('of a part is put behind the path of the whole', () => {
    expect(faultWithin('contained[1]', { path: 'name', message: 'm' }).path).toBe('contained[1].name');
    expect(faultWithin('contained[1]', { path: '', message: 'm' }).path).toBe('contained[1]');
  });
});

describe('a schema that coerces', () => {
  const settings = Type.Object({
    PORT: Type.Integer({ minimum: 1, default: 8080 }),
    VERBOSE: Type.Optional(Type.Boolean()),
  });

  it('turns text into what the schema names and fills in defaults', () => {
    const candidate = { VERBOSE: 'true' };
    expect(compileSchema(settings, { coerce: true }).is(candidate)).toBe(true);
    expect(candidate).toEqual({ VERBOSE: true, PORT: 8080 });
  });

  it('is another one than the schema that takes things as they are', () => {
    expect(compileSchema(settings).faultsOf({ PORT: '80' })).toEqual([
      { path: 'PORT', message: 'must be of type integer' },
    ]);
  });
});
