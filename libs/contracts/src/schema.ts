import { Ajv2020, type DefinedError, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Fault, type FaultCode, oneOf } from './fault.ts';
import { formats } from './formats.ts';
import { type Static, type TProperties, type TSchema, Type } from './type.ts';

/** The maximum number of reported errors of one value. */
export const maxFaults = 200;

export type CompiledSchema<T> = {
  /** Returns true if the value matches the schema. */
  is(value: unknown): value is T;
  /** Returns all errors of the value, up to `maxFaults`. */
  faultsOf(value: unknown): Fault[];
};

/** The pattern of a GUID in lower case, as the platform writes it. */
export const guidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** Matches a GUID (RFC 9562) from a caller. */
export const guidForm = new RegExp(guidPattern);

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T;

/** The immutable type of the values that a schema describes. */
export type StaticOf<S extends TSchema> = Frozen<Static<S>>;

/** Returns the schema of an object with these members and no others. */
export const closedObject = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

type WithoutUndefined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** Returns the members of an object that have a value: an optional member is either absent or defined. */
export function withoutUndefined<T extends object>(members: T): WithoutUndefined<T> {
  const defined: Record<string, unknown> = {};
  // Not Object.entries, which takes three times as long. A launch builds some ten objects this way.
  for (const name of Object.keys(members) as (keyof T & string)[])
    if (members[name] !== undefined) defined[name] = members[name];
  return defined as WithoutUndefined<T>;
}

/** Returns a schema whose objects accept unknown members at any depth. */
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
  // The registry's `practices` are a string or a list.
  allowUnionTypes: true,
  verbose: true,
  // Ajv's optimizer takes a third of the compilation time, and V8 runs the code as fast without it.
  code: { optimize: false },
  formats: Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
};
const ajv = new Ajv2020(options);
const coercingAjv = new Ajv2020({ ...options, coerceTypes: true, useDefaults: true });

const formatMessages = new Map<string, string>(
  Object.entries(formats).map(([name, { message }]) => [name, message]),
);

/**
 * Creates the validator of a schema. It is compiled at its first use, because compiling all schemas would
 * take a third of the start time. Call this at the start, never for each request. `coerce` converts the
 * strings of an environment or a form to numbers and booleans, and adds the defaults of the schema. It
 * modifies the checked object.
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
 * Creates a parser that returns values that match the schema. For others, it throws a TypeError with the
 * invalid paths, but no values.
 * @param name the kind of value for the message, such as `order`
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
 * Rewrites each list with `maxItems`, so that its entries are checked only if the list is short enough.
 * Otherwise Ajv with `allErrors` would also report each entry of a list that is too long.
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

/** The location of an Ajv error: a JSON Pointer into the value, and the path in the schema. */
type ErrorPlace = { readonly instancePath: string; readonly schemaPath: string };

/**
 * Returns the location of an error as a path for FHIR developers: `/contained/1/name` becomes
 * `contained[1].name`. Names that are not in the schema are written as `*`, because the caller chose them.
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
 * Returns the member name in a step of a schema path, which is a JSON Pointer as a URI fragment (RFC 6901
 * section 6).
 */
const nameIn = (step: string) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

function toFault(error: DefinedError): Fault {
  const code = codesByKeyword[error.keyword] ?? 'value';
  const path = error.keyword === 'required' ? pathOf(error, error.params.missingProperty) : pathOf(error);
  return { path, message: messageFor(error), code };
}

/** The error code for each keyword of JSON Schema. All others have the code `value`. */
const codesByKeyword: Readonly<Partial<Record<string, FaultCode>>> = {
  required: 'required',
  minItems: 'required',
  maxItems: 'structure',
  type: 'structure',
  additionalProperties: 'structure',
  enum: 'code-invalid',
  const: 'code-invalid',
  maxLength: 'too-long',
};

/** The values of a member that its schema lists: all, or those that are useful among others. */
type ListedValues = { readonly enum?: readonly unknown[]; readonly examples?: readonly unknown[] };

/** The schema of an error, which Ajv adds because of `verbose`. */
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
      return `must be ${oneOf(error.params.allowedValues)}`;
    case 'const':
      return `must be ${String(error.params.allowedValue)}`;
    case 'type':
      return `must be of type ${String(error.params.type)}`;
    case 'pattern':
      return described ?? 'does not have the required form';
    case 'format':
      return formatMessages.get(error.params.format) ?? 'does not have the required format';
    default:
      return error.message ?? 'is not valid';
  }
}

/*
 * The functions below accept values of any shape and never throw. For an absent member, they return
 * `undefined` or an empty list.
 */

/** Returns a member by its name if the value is an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The maximum number of entries of a list for which the specification's tables have no limit. */
export const maxEntries = 200;

/**
 * Returns the entries of a member by its name, if it is an array of at most `maxEntries`. A longer array is
 * an error itself.
 */
export function entriesOf(value: unknown, name: string): readonly unknown[] {
  const member = memberOf(value, name);
  return isReadableList(member) ? member : [];
}

/** Returns true if the value is an array that is short enough to check. The schemas report longer arrays. */
export function isReadableList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= maxEntries;
}

/** Returns the strings among these values. */
export function textsAmong(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Returns the length of a text in Unicode code points, the unit of the specification's limits. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
