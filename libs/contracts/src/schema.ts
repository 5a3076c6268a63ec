import { Ajv2020, type DefinedError, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Fault, type FaultCode, nearMiss, oneOf } from './fault.ts';
import { formats } from './formats.ts';
import { type Static, type TProperties, type TSchema, Type } from './type.ts';

/** The maximum number of errors that are reported for one value. */
export const maxFaults = 200;

export type CompiledSchema<T> = {
  is(value: unknown): value is T;
  /** Returns all errors of the value, up to `maxFaults`. */
  faultsOf(value: unknown): Fault[];
};

/** The pattern of a GUID in lower case. The platform writes every GUID in this form. */
export const guidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** Matches a GUID (RFC 9562) in lower case. */
export const guidForm = new RegExp(guidPattern);

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T;

/** The TypeScript type of the values of a schema, with all members readonly. */
export type StaticOf<S extends TSchema> = Frozen<Static<S>>;

/** Returns the schema of an object that may contain only these members. */
export const closedObject = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

type WithoutUndefined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Returns a copy of an object without the members that are undefined. */
export function withoutUndefined<T extends object>(members: T): WithoutUndefined<T> {
  const defined: Record<string, unknown> = {};
  // Object.entries would take three times as long, and each launch calls this function about ten times.
  for (const name of Object.keys(members) as (keyof T & string)[])
    if (members[name] !== undefined) defined[name] = members[name];
  return defined as WithoutUndefined<T>;
}

/** Returns a copy of a schema in which every object, at any depth, accepts unknown members. */
export function withUnknownMembers<S>(schema: S): S {
  if (Array.isArray(schema)) return schema.map(withUnknownMembers) as S;
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema).filter(
    ([name, part]) => name !== 'additionalProperties' || part !== false,
  );
  return Object.fromEntries(parts.map(([name, part]) => [name, withUnknownMembers<unknown>(part)])) as S;
}

const options = {
  allErrors: true,
  strict: true,
  // The members `practices` and `erns` of the registry are a string or a list.
  allowUnionTypes: true,
  verbose: true,
  // The optimizer of Ajv takes a third of the compilation time, but does not make validation faster in V8.
  code: { optimize: false },
  formats: Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
};
const ajv = new Ajv2020(options);
const coercingAjv = new Ajv2020({ ...options, coerceTypes: true, useDefaults: true });

const formatMessages = new Map<string, string>(
  Object.entries(formats).map(([name, { message }]) => [name, message]),
);

/**
 * Creates the validator of a schema. Call this function when the process starts, never for each request. The
 * validator compiles the schema at its first use, because compiling all schemas would take a third of the
 * start time. With `coerce`, the validator modifies the checked object. It converts strings from the
 * environment or a form to numbers and booleans, and adds the defaults of the schema.
 */
export function compileSchema<S extends TSchema>(
  schema: S,
  { coerce = false } = {},
): CompiledSchema<Static<S>> {
  let compiled: ValidateFunction<Static<S>> | undefined;
  const compile = () => (coerce ? coercingAjv : ajv).compile<Static<S>>(countingFirst(schema) as S);
  return {
    is(value): value is Static<S> {
      compiled ??= compile();
      return compiled(value);
    },
    faultsOf(value) {
      compiled ??= compile();
      const validate = compiled;
      if (validate(value)) return [];
      const errors = ((validate.errors ?? []) as DefinedError[]).filter(({ keyword }) => keyword !== 'if');
      return errors.slice(0, maxFaults).map(toFault);
    },
  };
}

/**
 * Creates a parser that returns values that match the schema. For other values, the parser throws a TypeError
 * that lists the invalid paths, without values.
 * @param name what the error message calls the value, such as `order`
 */
export function createParser<S extends TSchema>(
  schema: S,
  name: string,
): (candidate: unknown) => StaticOf<S> {
  const compiled = compileSchema(schema);
  const accepts = (candidate: unknown): candidate is StaticOf<S> => compiled.is(candidate);
  return (candidate) => {
    if (accepts(candidate)) return candidate;
    const described = compiled.faultsOf(candidate).map(({ path, message }) => `${path} ${message}`);
    throw new TypeError(`The value is not a valid ${name}: ${described.join('; ')}`);
  };
}

/**
 * Rewrites the schema of each list with `maxItems`, so that entries are checked only if the list is short
 * enough. Otherwise, Ajv with `allErrors` would also report errors in each entry of a list that is too long.
 */
function countingFirst(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(countingFirst);
  if (typeof schema !== 'object' || schema === null) return schema;
  const rewritten: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, countingFirst(part)]),
  );
  const { items, ...others } = rewritten;
  const { type, maxItems } = others;
  if (type !== 'array' || items === undefined || typeof maxItems !== 'number') return rewritten;
  return { ...others, if: { minItems: maxItems + 1 }, else: { items } };
}

/** The location of an Ajv error: a JSON Pointer to the invalid value, and the path of the schema keyword. */
type ErrorPlace = { readonly instancePath: string; readonly schemaPath: string };

/**
 * Returns the location of an error as a path like those in FHIR: `/contained/1/name` becomes
 * `contained[1].name`. Replaces names that are not in the schema with `*`, because the caller chose them.
 */
export function pathOf({ instancePath, schemaPath }: ErrorPlace, ...more: string[]): string {
  const steps = instancePath.split('/').slice(1);
  const keywords = schemaPath.split('/').slice(1).values();
  let path = '';
  for (const keyword of keywords) {
    if (steps.length === 0) break;
    if (keyword === 'properties') path += `.${nameIn(keywords.next().value ?? '')}`;
    else if (keyword === 'items') path += `[${Number(steps[0])}]`;
    else if (keyword === 'additionalProperties') path += '.*';
    else continue;
    steps.shift();
  }
  const masked = steps.map(() => '.*').join('');
  return [path + masked, ...more].join('.').replace(/^\./, '');
}

/**
 * Decodes a member name in the path of a schema keyword. The path is a JSON Pointer as a URI fragment (RFC
 * 6901 section 6).
 */
const nameIn = (step: string) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

function toFault(error: DefinedError): Fault {
  const code = codesByKeyword[error.keyword] ?? 'value';
  const path = error.keyword === 'required' ? pathOf(error, error.params.missingProperty) : pathOf(error);
  return { path, message: messageFor(error), code };
}

/** The error code for each JSON Schema keyword. Keywords that are not listed have the code `value`. */
const codesByKeyword: Readonly<Partial<Record<string, FaultCode>>> = {
  required: 'required',
  minItems: 'required',
  maxItems: 'structure',
  type: 'structure',
  additionalProperties: 'structure',
  enum: 'code-invalid',
  const: 'code-invalid',
  maxLength: 'too-long',
  not: 'not-supported',
};

/** The part of a member's schema that lists values: all allowed values, or examples of useful values. */
type ListedValues = { readonly enum?: readonly unknown[]; readonly examples?: readonly unknown[] };

/** The part of an Ajv error that contains the schema. Ajv adds it because of `verbose`. */
type About = {
  readonly parentSchema?: {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, ListedValues>>;
  };
};

function messageFor(error: DefinedError): string {
  const { description: described, properties } = (error as About).parentSchema ?? {};
  switch (error.keyword) {
    case 'required': {
      const { enum: allowed, examples = allowed } = properties?.[error.params.missingProperty] ?? {};
      return examples === undefined ? 'is required' : `is required: ${oneOf(examples)}`;
    }
    case 'additionalProperties':
      return 'has an unknown property';
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'minLength':
      return 'must not be empty';
    case 'maxItems':
      return `must have at most ${error.params.limit} ${error.params.limit === 1 ? 'entry' : 'entries'}`;
    case 'minItems':
      return `must have at least ${error.params.limit} ${error.params.limit === 1 ? 'entry' : 'entries'}`;
    case 'enum':
      return `must be ${oneOf(error.params.allowedValues)}${nearMiss(error.data, error.params.allowedValues)}`;
    case 'const':
      return `must be ${String(error.params.allowedValue)}`;
    case 'type':
      return `must be of type ${String(error.params.type).replace(',null', '')}`;
    case 'not':
    case 'pattern':
      return described ?? 'does not have the required form';
    case 'format':
      return formatMessages.get(error.params.format) ?? 'does not have the required format';
    default:
      return error.message ?? 'is not valid';
  }
}

/*
 * The functions below accept values of any type and never throw. If a member is absent, they return undefined
 * or an empty list.
 */

/** Returns the member with this name, or undefined if the value is not an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The maximum number of entries in lists whose length the tables of the specification do not limit. */
export const maxEntries = 200;

/**
 * Returns the entries of the member with this name. Returns an empty list if the member is not an array or
 * has more than `maxEntries` entries, which the schema reports.
 */
export function entriesOf(value: unknown, name: string): readonly unknown[] {
  const member = memberOf(value, name);
  return isReadableList(member) ? member : [];
}

/** Returns true if the value is an array of at most `maxEntries` entries. Schemas report longer arrays. */
export function isReadableList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= maxEntries;
}

/** Returns only the values that are strings. */
export function textsAmong(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Returns the length of a text in Unicode code points, as the limits of the specification count. */
export function lengthOf(text: string): number {
  return /[\uD800-\uDFFF]/.test(text) ? Array.from(text).length : text.length;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
