/**
 * What kind of fault it is: FHIR R4 issue types (value set issue-type), so that a fault has one word in every dialect.
 * `docs/errors.md` tells the cause and the remedy of each; a word is never given another meaning.
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

/** One fault of what a caller sent. Never holds a value that was sent, but for the id in `resource`. */
export type Fault = {
  /** Where it is: `contained[1].name[0].family`; a header or a parameter by its name; empty for the whole body. */
  readonly path: string;
  /** What to do, as the rest of a sentence that begins with the path. */
  readonly message: string;
  readonly code: FaultCode;
  /**
   * The FHIR resource that has it: `Patient #patient`. For the caller alone, who chose the id: not for logs or
   * events.
   */
  readonly resource?: string;
};

/** A fault of a file that an operator writes: a person reads it, and no program has to tell its kind. */
export type FileFault = Pick<Fault, 'path' | 'message'>;

/** The fault as seen from outside: `name[0]` within `contained[1]` is at `contained[1].name[0]`. */
export function faultWithin(path: string, fault: Fault): Fault {
  return { ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` };
}
