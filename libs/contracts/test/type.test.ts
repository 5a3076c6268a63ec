import { describe, expect, it } from '@jest/globals';
import { Type as TypeBox } from 'typebox';
import { Type } from '../src/type.ts';

type Builder = typeof Type;

const schemas: Readonly<Record<string, (builder: Builder) => object>> = {
  array: (t) => t.Array(t.String({ minLength: 1 }), { minItems: 1 }),
  boolean: (t) => t.Boolean({ default: true }),
  enum: (t) => t.Enum(['a', 'b'], { description: 'one of two' }),
  integer: (t) => t.Integer({ minimum: 1 }),
  'literal text': (t) => t.Literal('x', { title: 'a letter' }),
  'literal number': (t) => t.Literal(1),
  null: (t) => t.Null(),
  number: (t) => t.Number({ maximum: 2 }),
  object: (t) => t.Object({ a: t.String(), b: t.Integer() }, { additionalProperties: false }),
  'object with optional members': (t) =>
    t.Object({ a: t.Optional(t.String({ title: 'a' })), b: t.Integer(), c: t.Optional(t.Object({})) }),
  'object without required members': (t) => t.Object({ a: t.Optional(t.Array(t.Unknown())) }),
  record: (t) => t.Record(t.String(), t.Integer()),
  'record with a pattern': (t) => t.Record(t.String({ pattern: '^a$' }), t.String(), { maxProperties: 1 }),
  string: (t) => t.String({ pattern: '^a$' }),
  union: (t) => t.Union([t.Null(), t.Object({ a: t.String() })], { title: 'either' }),
  unknown: (t) => t.Unknown({ title: 'anything' }),
  unsafe: (t) => t.Unsafe<string>({ type: ['string', 'null'] }),
};

describe('Type', () => {
  it.each(Object.keys(schemas))('builds the same JSON Schema as TypeBox: %s', (name) => {
    const build = schemas[name];
    expect(JSON.stringify(build?.(Type))).toBe(JSON.stringify(build?.(TypeBox)));
  });

  it('makes a member required unless the member is wrapped in Optional', () => {
    const name = Type.String();
    const nickname = Type.Optional(name);
    expect(Type.Object({ name, nickname })).toEqual({
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, nickname: { type: 'string' } },
    });
  });
});
