/**
 * The codes of errors. They are FHIR R4 issue types (value set issue-type), so that an OperationOutcome and a
 * JSON error contain the same code. `docs/reference/errors.md` explains the cause and the remedy of each
 * code. The meaning of a code never changes.
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
   * The location of the error: a path such as `contained[1].name[0].family`, or the name of a header or
   * parameter. The path is empty if the error concerns the whole body.
   */
  readonly path: string;
  /**
   * What is wrong, without a subject: `must not be empty`. Show it after the path, as in `name must not be
   * empty`.
   */
  readonly message: string;
  readonly code: FaultCode;
  /**
   * The FHIR resource that contains the error, such as `Patient #patient`. Logs and events must not contain
   * this member, because the caller chose the id.
   */
  readonly resource?: string;
};

/** An error in a file that an operator writes. It has no code, because only people read it. */
export type FileFault = Pick<Fault, 'path' | 'message'>;

/**
 * Returns an error with a prefix in front of its path: `name[0]` within `contained[1]` becomes
 * `contained[1].name[0]`.
 */
export function faultWithin(path: string, fault: Fault): Fault {
  return { ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` };
}

/** Returns the paths and the codes of errors for an event. Neither contains a value of the request. */
export const faultPlaces = (faults: readonly Fault[]) =>
  faults.length === 0 ? {} : { paths: faults.map(({ path }) => path), codes: faults.map(({ code }) => code) };

/** Returns the same text for addresses that people confuse: another case, `http`, or the former NHS host. */
const lookOf = (address: string): string =>
  address.trim().toLowerCase().replace('http:', 'https:').replace('//fhir.nhs.net/', '//fhir.nhs.uk/');

/**
 * Returns the end of a message that names the known address which a text only just misses, or an empty text.
 * The eye does not see such a difference.
 */
export function nearMiss(text: unknown, known: readonly unknown[]): string {
  if (typeof text !== 'string' || !text.includes('://')) return '';
  const meant = known.find((one): one is string => typeof one === 'string' && lookOf(one) === lookOf(text));
  return meant === undefined ? '' : `. What was sent is almost ${meant}: correct its case, protocol or host`;
}

/** Returns the allowed values as part of a message, such as `home` or `one of usual, old`. */
export const oneOf = (values: readonly unknown[]): string =>
  `${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
