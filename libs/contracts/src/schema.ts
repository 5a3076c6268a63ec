import { Ajv2020, type DefinedError } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { formats } from './fhir/formats.ts';

/** One fault of a checked value: where it is (`contained[1].name[0].family`) and what to do. Never holds a value. */
export type Fault = { readonly path: string; readonly message: string };

/** The most faults that are reported of one value. */
export const maxFaults = 200;

export type CompiledSchema<T> = {
  /** Whether the value is as the schema has it. */
  is(value: unknown): value is T;
  /** Every fault of the value, up to `maxFaults`; none when it is as the schema has it. */
  faultsOf(value: unknown): Fault[];
};

/** A GUID as every part of the platform writes it. */
export const guidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const options = {
  allErrors: true,
  strict: true,
  verbose: true,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
};
const ajv = new Ajv2020(options);
const coercingAjv = new Ajv2020({ ...options, coerceTypes: true, useDefaults: true });

const formatMessages = new Map<string, string>(
  Object.entries(formats).map(([name, { message }]) => [name, message]),
);

/**
 * Compiles a schema once; call it at start-up, never per request.
 * `coerce` turns the strings of an environment or a form into the numbers and booleans that the schema names and
 * fills in its defaults, in the checked object itself.
 */
export function compileSchema<S extends TSchema>(
  schema: S,
  { coerce = false } = {},
): CompiledSchema<Static<S>> {
  const validate = (coerce ? coercingAjv : ajv).compile<Static<S>>(schema);
  return {
    is: (value): value is Static<S> => validate(value),
    faultsOf: (value) =>
      validate(value) ? [] : ((validate.errors ?? []) as DefinedError[]).slice(0, maxFaults).map(toFault),
  };
}

/** Writes a JSON Pointer as the path a FHIR developer reads: `/contained/1/name` becomes `contained[1].name`. */
export function pathOf(instancePath: string, ...more: string[]): string {
  const steps = [...instancePath.split('/').slice(1), ...more].map((step) =>
    step.replaceAll('~1', '/').replaceAll('~0', '~'),
  );
  return steps.reduce((path, step) => {
    if (/^\d+$/.test(step)) return `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}

/** The fault as seen from outside: `name[0]` within `contained[1]` is at `contained[1].name[0]`. */
export function faultWithin(path: string, fault: Fault): Fault {
  return { path: fault.path === '' ? path : `${path}.${fault.path}`, message: fault.message };
}

function toFault(error: DefinedError): Fault {
  switch (error.keyword) {
    case 'required':
      return { path: pathOf(error.instancePath, error.params.missingProperty), message: 'is required' };
    case 'additionalProperties':
      return { path: pathOf(error.instancePath), message: 'has a property that is not known here' };
    default:
      return { path: pathOf(error.instancePath), message: messageFor(error) };
  }
}

function messageFor(error: DefinedError): string {
  const described = (error as { parentSchema?: { description?: string } }).parentSchema?.description;
  switch (error.keyword) {
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'minLength':
      return 'must not be empty';
    case 'maxItems':
      return `must have at most ${error.params.limit} ${error.params.limit === 1 ? 'entry' : 'entries'}`;
    case 'minItems':
      return `must have at least ${error.params.limit} ${error.params.limit === 1 ? 'entry' : 'entries'}`;
    case 'enum':
      return `must be ${error.params.allowedValues.length > 1 ? 'one of ' : ''}${error.params.allowedValues.join(', ')}`;
    case 'const':
      return `must be ${String(error.params.allowedValue)}`;
    case 'type':
      return `must be of type ${String(error.params.type)}`;
    case 'pattern':
      return described ?? 'is not of the form that is asked for';
    case 'format':
      return formatMessages.get(error.params.format) ?? 'is not of the format that is asked for';
    default:
      return error.message ?? 'is not valid';
  }
}
