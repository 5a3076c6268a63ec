import type { TSchema, Type as TypeBox } from 'typebox';

export type { Static, TObject, TProperties, TSchema } from 'typebox';

type Form =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe';

type Options = Readonly<Record<string, unknown>>;

/** Marks schemas of optional members. Validators ignore the mark, because it is a symbol, not a keyword. */
const optional = Symbol('optional');

const simple = (type: string) => (options?: Options) => ({ type, ...options });

function object(properties: Readonly<Record<string, object>>, options?: Options) {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name] ?? {}, optional));
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
}

/**
 * Builds the same JSON schemas as TypeBox, with the types of TypeBox but without its code. The 370 modules of
 * TypeBox would add 90 ms to the start of each process and use up to 20 MiB.
 */
// type.test.ts compares these schemas with the schemas of TypeBox.
export const Type = {
  Array: (items: object, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: simple('boolean'),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: [...values], ...options }),
  Integer: simple('integer'),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: simple('null'),
  Number: simple('number'),
  Object: object,
  Optional: (schema: object) =>
    Object.defineProperty({ ...schema }, optional, { value: true, enumerable: false }),
  Record: (name: { readonly pattern?: string }, value: object, options?: Options) => ({
    type: 'object',
    patternProperties: { [name.pattern ?? '^.*$']: value },
    ...options,
  }),
  String: simple('string'),
  Union: (anyOf: readonly object[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: TSchema) => schema,
} as unknown as Pick<typeof TypeBox, Form>;

/** Returns the schema of an optional string. */
export const optionalText = (options: Options = {}) => Type.Optional(Type.String(options));
