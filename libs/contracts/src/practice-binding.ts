import { type CodedIdentifier, inCapitals, practiceCode } from './agreed-codes.ts';
import { type Static, Type } from './type.ts';

const odsCode = 'ods-organization-code';
const localCode = 'local-org-code';

/** The context of every launch of the client contains each practice, so their number is bounded. */
const maxPractices = 1000;

const practice = Type.Object(practiceCode, { additionalProperties: false });

type StatedPractices = 'any' | Static<typeof practice>[];

/** The practices for which a client may request launches, as the registry states them: `"any"`, or a list. */
export const statedPracticesSchema = Type.Unsafe<StatedPractices>({
  type: ['string', 'array'],
  pattern: '^any$',
  description: 'must be "any" or a list of practices',
  items: practice,
  minItems: 1,
  maxItems: maxPractices,
});

/** The codes of the practices that a client is bound to, by their code set. ODS codes are in capitals. */
export const practiceBindingSchema = Type.Object({
  [odsCode]: Type.Array(Type.String()),
  [localCode]: Type.Array(Type.String()),
});

export type PracticeBinding = {
  readonly [odsCode]: readonly string[];
  readonly [localCode]: readonly string[];
};

/**
 * Returns the practices that a client is bound to; undefined if the registry allows any practice or states
 * nothing.
 */
export function practiceBindingOf(
  stated: 'any' | readonly Static<typeof practice>[] | undefined,
): PracticeBinding | undefined {
  if (stated === undefined || stated === 'any') return undefined;
  const codesOf = (system: string) => stated.filter((one) => one.system === system).map(({ code }) => code);
  return { [odsCode]: codesOf(odsCode).map(inCapitals), [localCode]: codesOf(localCode) };
}

/** Returns whether a client is bound to a practice. ODS codes are compared without regard to case. */
export function isAgreedPractice({ system, value }: CodedIdentifier, binding: PracticeBinding): boolean {
  switch (system) {
    case odsCode:
      return binding[odsCode].includes(inCapitals(value));
    case localCode:
      return binding[localCode].includes(value);
    default:
      return false;
  }
}
