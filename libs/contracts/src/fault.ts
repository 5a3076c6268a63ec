/**
 * The kinds of errors: FHIR R4 issue types (value set issue-type), so that each kind has one word in every
 * dialect. `docs/reference/errors.md` explains the cause and the remedy of each. A word never changes its
 * meaning.
 */
export const faultCodes = [
  'structure',
  'required',
  'value',
  'invariant',
  'code-invalid',
  'too-long',
  'duplicate',
  'multiple-matches',
  'not-found',
  'not-supported',
  'business-rule',
  'too-costly',
] as const;

export type FaultCode = (typeof faultCodes)[number];

/** One error in a caller's request. Never contains a value of the request, except the id in `resource`. */
export type Fault = {
  /**
   * The place: `contained[1].name[0].family`; a header or a parameter by its name; empty for the whole body.
   */
  readonly path: string;
  /** What to send instead, as the rest of a sentence that begins with the path. */
  readonly message: string;
  readonly code: FaultCode;
  /**
   * The FHIR resource that has it: `Patient #patient`. Only for the caller, who chose the id: not for logs or
   * events.
   */
  readonly resource?: string;
};

/** An error in a file that an operator writes: for people, so no program needs its kind. */
export type FileFault = Pick<Fault, 'path' | 'message'>;

/**
 * Returns an error with its path from the outside: `name[0]` within `contained[1]` is `contained[1].name[0]`.
 */
export function faultWithin(path: string, fault: Fault): Fault {
  return { ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` };
}

/** Returns the places and the kinds of errors for an event, which contains no value of a request. */
export const faultPlaces = (faults: readonly Fault[]) =>
  faults.length === 0 ? {} : { paths: faults.map(({ path }) => path), codes: faults.map(({ code }) => code) };

/** Returns the allowed values for a message: `home`, or `one of usual, old`. */
export const oneOf = (values: readonly unknown[]): string =>
  `${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
