import { Ajv2020, type DefinedError, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Fault, type FaultCode, oneOf } from './fault.ts';
import { formats } from './formats.ts';
import { type Static, type TProperties, type TSchema, Type } from './type.ts';

/** The maximum number of reported errors of one value. */
export const maxFaults = 200;

export type CompiledSchema<T> = {
  /** Returns whether the value matches the schema. */
  is(value: unknown): value is T;
  /** Returns every error of the value, up to `maxFaults`; none if it matches the schema. */
  faultsOf(value: unknown): Fault[];
};

/** A GUID as every part of the platform writes it. */
export const guidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** The text form of a GUID (RFC 9562) that is accepted from a caller. */
export const guidForm = new RegExp(guidPattern);

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T;

/** The immutable type of the values that a schema describes. */
export type StaticOf<S extends TSchema> = Frozen<Static<S>>;

/** Returns the schema of an object with the named members and no others. */
export const closedObject = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

/** Returns a schema whose objects, at any depth, accept members that it does not name. */
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
  // The registry's `practices` are a word or a list.
  allowUnionTypes: true,
  verbose: true,
  // Ajv's own optimizer takes a third of a compilation; V8 makes the code as fast without it.
  code: { optimize: false },
  formats: Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
};
const ajv = new Ajv2020(options);
const coercingAjv = new Ajv2020({ ...options, coerceTypes: true, useDefaults: true });

const formatMessages = new Map<string, string>(
  Object.entries(formats).map(([name, { message }]) => [name, message]),
);

/**
 * Compiles a schema once, when it is first used: all schemas of a process would take a third of its start.
 * Call it at start-up, never per request. `coerce` converts the strings of an
 * environment or a form to the numbers and booleans of the schema and fills in its defaults, in the checked
 * object itself.
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
 * Creates a parser that returns a value that matches the schema. Otherwise it throws a TypeError that names
 * the invalid paths, never the values.
 * @param name the kind of value, for the message: `order`
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
 * Rewrites each bounded list of a schema, so that its entries are checked only if they are few enough.
 * Otherwise Ajv with `allErrors` would report an error for each entry of a list that `maxItems` has already
 * refused.
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

/** The place of an Ajv error: a JSON Pointer into the value, and the path through the schema. */
type ErrorPlace = { readonly instancePath: string; readonly schemaPath: string };

/**
 * Returns the place of an error as a path for FHIR developers: `/contained/1/name` becomes
 * `contained[1].name`. The names come from the schema. The caller chose any other member name, so it is
 * written as `*`.
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
 * Returns the member name in a step of a schema path, which is a URI fragment of a JSON Pointer (RFC 6901
 * section 6).
 */
const nameIn = (step: string) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

function toFault(error: DefinedError): Fault {
  const code = codesByKeyword[error.keyword] ?? 'value';
  const path = error.keyword === 'required' ? pathOf(error, error.params.missingProperty) : pathOf(error);
  return { path, message: messageFor(error), code };
}

/** The kind of error for a keyword of JSON Schema; `value` for every other. */
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

/** The schema that an error is about; Ajv adds it because it is verbose. */
type About = {
  readonly parentSchema?: {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] }>>;
  };
};

function messageFor(error: DefinedError): string {
  const { description: described, properties } = (error as About).parentSchema ?? {};
  switch (error.keyword) {
    case 'required': {
      const allowed = properties?.[error.params.missingProperty]?.enum;
      return allowed === undefined ? 'is required' : `is required: ${oneOf(allowed)}`;
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
 * The readers below accept payloads of any shape. None of them throws, and an absent member is `undefined` or
 * empty.
 */

/** Returns the member of that name if the value is an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The maximum number of entries of a list for which the specification's tables name no limit. */
export const maxEntries = 200;

/**
 * Returns the entries of the member of that name if it is an array of at most `maxEntries`: a longer array is
 * an error itself.
 */
export function entriesOf(value: unknown, name: string): readonly unknown[] {
  const member = memberOf(value, name);
  return isReadableList(member) ? member : [];
}

/** Returns whether the value is an array short enough to check. The schemas report a longer array. */
export function isReadableList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= maxEntries;
}

/** Returns the texts among these values. */
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
