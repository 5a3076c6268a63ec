import { describe, expect, it } from '@jest/globals';
import { faultWithin } from '../src/fault.ts';
import { compileSchema, maxFaults } from '../src/schema.ts';
import { Type } from '../src/type.ts';

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

describe('faultsOf', () => {
  it('returns no faults for a value that follows the schema', () => {
    expect(faultsOf(valid)).toEqual([]);
    expect(compiled.is({ contained: [{ name: [valid] }] })).toBe(true);
  });

  it.each([
    ['family', { family: undefined }, 'required', 'is required'],
    ['family', { family: 'Abcde' }, 'too-long', 'must have at most 4 characters'],
    ['family', { family: '' }, 'value', 'must not be empty'],
    ['family', { family: 1 }, 'structure', 'must be of type string'],
    ['given', { given: [] }, 'required', 'must have at least 1 entry'],
    ['given', { given: ['a', 'b', 'c'] }, 'structure', 'must have at most 2 entries'],
    ['one', { one: ['a', 'b'] }, 'structure', 'must have at most 1 entry'],
    ['given[1]', { given: ['a', 2] }, 'structure', 'must be of type string'],
    ['use', { use: 'maiden' }, 'code-invalid', 'must be one of usual, old'],
    ['only', { only: 'that' }, 'code-invalid', 'must be this'],
    ['kind', { kind: 'other' }, 'code-invalid', 'must be name'],
    ['code', { code: 'a' }, 'value', 'must be a capital letter'],
    ['bare', { bare: 'a' }, 'value', 'does not have the required form'],
    ['born', { born: '2023-02-29' }, 'value', 'must be a date that exists, written YYYY-MM-DD'],
    ['closed', { closed: { secret: 1 } }, 'structure', 'has an unknown property'],
  ])(
    'returns the path %s for the change %j, with the code and message of the broken rule',
    (path, change, code, message) => {
      const fault = { path: `contained[0].name[0].${path}`, message, code };
      expect(faultsOf({ ...valid, ...change })).toEqual([fault]);
    },
  );

  it('counts the characters of a text as code points, not as UTF-16 units', () => {
    expect(faultsOf({ family: '\u{20bb7}'.repeat(4) })).toEqual([]);
    expect(faultsOf({ family: '\u{20bb7}'.repeat(5) })).toHaveLength(1);
  });

  it('never returns the invalid value', () => {
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

  it('returns all faults, up to maxFaults', () => {
    expect(faultsOf({ family: '', given: [], use: 1, code: 1 })).toHaveLength(4);
    const many = { contained: Array.from({ length: maxFaults + 50 }, () => ({})) };
    expect(compiled.faultsOf(many)).toHaveLength(maxFaults);
  });
});

describe('the path of a fault', () => {
  const person = Type.Object(
    { 'family/name': Type.String(), 'c~d é': Type.Array(Type.String(), { maxItems: 2 }) },
    { additionalProperties: Type.Object({ text: Type.String() }) },
  );
  const people = compileSchema(Type.Array(Type.Union([Type.Null(), person])));
  const pathsOf = (candidate: unknown) => people.faultsOf([candidate]).map(({ path }) => path);

  it('contains the member names of the schema, whatever characters they contain', () => {
    expect(pathsOf({ 'family/name': 1, 'c~d é': ['a', 1] })).toEqual(
      expect.arrayContaining(['[0].family/name', '[0].c~d é[1]']),
    );
    expect(pathsOf({ 'c~d é': [] })).toContain('[0].family/name');
  });

  it('contains * in place of a member name that the caller chose', () => {
    const names = ['Margaret Whitfield', '9434765919', 'a/b', '__proto__', 'k'.repeat(500)];
    for (const name of names) {
      const candidate = {
        'family/name': '',
        'c~d é': [],
        ...JSON.parse(`{${JSON.stringify(name)}:{"text":7}}`),
      };
      const paths = people.faultsOf([candidate, {}]).map(({ path }) => path);
      expect(paths).toContain('[0].*.text');
      expect(paths.join()).not.toContain(name);
    }
    expect(pathsOf({ 'family/name': '', 'c~d é': [], Whitfield: {} })).toContain('[0].*.text');
  });

  it('begins with the path of the enclosing value, which faultWithin adds', () => {
    expect(faultWithin('contained[1]', { path: 'name', message: 'm', code: 'value' }).path).toBe(
      'contained[1].name',
    );
    expect(faultWithin('contained[1]', { path: '', message: 'm', code: 'value' }).path).toBe('contained[1]');
  });
});

describe('a list with too many entries', () => {
  it('causes one fault, because its entries are not validated', () => {
    expect(faultsOf({ family: 'a', given: Array.from({ length: 100_000 }, () => 7) })).toEqual([
      { path: 'contained[0].name[0].given', message: 'must have at most 2 entries', code: 'structure' },
    ]);
  });
});

describe('a schema compiled with coercion', () => {
  const settings = Type.Object({
    PORT: Type.Integer({ minimum: 1, default: 8080 }),
    VERBOSE: Type.Optional(Type.Boolean()),
  });

  it('converts text to the types of the schema, and adds default values', () => {
    const candidate = { VERBOSE: 'true' };
    expect(compileSchema(settings, { coerce: true }).is(candidate)).toBe(true);
    expect(candidate).toEqual({ VERBOSE: true, PORT: 8080 });
  });

  it('does not affect the same schema compiled without coercion', () => {
    expect(compileSchema(settings).faultsOf({ PORT: '80' })).toEqual([
      { path: 'PORT', message: 'must be of type integer', code: 'structure' },
    ]);
  });
});
