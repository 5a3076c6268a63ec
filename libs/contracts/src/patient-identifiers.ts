import type { CodedIdentifier } from './agreed-codes.ts';
import { inCapitals } from './agreed-codes.ts';
import type { PatientIdentifier, PatientIdentifierSystem } from './launch-context.ts';

/** Whether an identifier is one person's everywhere, and not within one hospital alone. */
export const isNational = (system: PatientIdentifierSystem): boolean => system !== 'hospital-number';

/** Spaces, hyphens, and what looks like them or like nothing. */
const separators = /[\s\u00ad\u200b-\u200d\u2010-\u2015\u2060\u2212-]/g;

type NationalSystem = Exclude<PatientIdentifierSystem, 'hospital-number'>;

/** What each national system gives, and how a fault says it. */
const nationalForms: Readonly<Record<NationalSystem, { message: string; isGiven(bare: string): boolean }>> = {
  'nhs-number': {
    message: 'must be an NHS number: ten digits, the last of which checks the others',
    isGiven: hasCheckDigit,
  },
  'chi-number': {
    message:
      'must be a CHI number: the day, month and year of birth, and four digits, the last of which checks the others',
    isGiven: (bare) => hasCheckDigit(bare) && /^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])/.test(bare),
  },
  'gha-number': { message: 'must be a GHA number: 4 to 20 letters and digits', isGiven: isCode },
  'ssn-number': { message: 'must be a social security number: 4 to 20 letters and digits', isGiven: isCode },
};

/** No public rule says more of these numbers. */
function isCode(bare: string): boolean {
  return /^(?=.*\d)[A-Z0-9]{4,20}$/.test(bare);
}

/** NHS Data Dictionary, NHS NUMBER: weights 10 to 2 and modulus 11 make the tenth digit. CHI numbers have the same. */
function hasCheckDigit(bare: string): boolean {
  if (!/^\d{10}$/.test(bare)) return false;
  let sum = 0;
  for (let index = 0; index < 9; index += 1) sum += Number(bare[index]) * (10 - index);
  // A remainder that asks for the digit 10 is given to nobody.
  return (11 - (sum % 11)) % 11 === Number(bare[9]);
}

/** Returns an identifier as it is kept, whatever its spelling. A hospital number is compared exactly. */
export function readPatientIdentifier({
  system,
  value,
}: CodedIdentifier<PatientIdentifierSystem>): PatientIdentifier {
  if (system === 'hospital-number') return { system, value };
  const bare = inCapitals(value.replace(separators, ''));
  return nationalForms[system].isGiven(bare) ? { system, value: bare } : { system, value, isDoubtful: true };
}

/** Says what an identifier must be that its system does not give; undefined for one that it gives. */
export function doubtOf(identifier: CodedIdentifier<PatientIdentifierSystem>): string | undefined {
  const { system, isDoubtful } = readPatientIdentifier(identifier);
  return isDoubtful && system !== 'hospital-number' ? nationalForms[system].message : undefined;
}
