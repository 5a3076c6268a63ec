/**
 * The codes of errors: FHIR R4 issue types (value set issue-type), so that all dialects use the same codes.
 * `docs/reference/errors.md` explains the cause and the remedy of each. The meaning of a code never changes.
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
   * The location of the error: `contained[1].name[0].family`, or the name of a header or parameter. Empty for
   * the whole body.
   */
  readonly path: string;
  /** The requirement, as the rest of a sentence that begins with the path. */
  readonly message: string;
  readonly code: FaultCode;
  /**
   * The FHIR resource that contains the error: `Patient #patient`. Only for answers, not for logs or events,
   * because the caller chose the id.
   */
  readonly resource?: string;
};

/** An error in a file that an operator writes. It has no code, because only people read it. */
export type FileFault = Pick<Fault, 'path' | 'message'>;

/**
 * Returns an error with its path below another: `name[0]` within `contained[1]` becomes
 * `contained[1].name[0]`.
 */
export function faultWithin(path: string, fault: Fault): Fault {
  return { ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` };
}

/** Returns the paths and the codes of errors for an event. They contain no values of the request. */
export const faultPlaces = (faults: readonly Fault[]) =>
  faults.length === 0 ? {} : { paths: faults.map(({ path }) => path), codes: faults.map(({ code }) => code) };

/** Returns the allowed values for a message: `home`, or `one of usual, old`. */
export const oneOf = (values: readonly unknown[]): string =>
  `${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
