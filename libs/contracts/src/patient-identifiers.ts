import { type CodedIdentifier, inCapitals } from './agreed-codes.ts';
import type { PatientIdentifier, PatientIdentifierSystem } from './launch-context.ts';

/** Returns whether an identifier is unique to one person everywhere, and not only within one hospital. */
export const isNational = (system: PatientIdentifierSystem): boolean => system !== 'hospital-number';

/** Spaces, hyphens, and similar or invisible characters. */
const separators = /[\s\u00ad\u200b-\u200d\u2010-\u2015\u2060\u2212-]/g;

/** The names of the code sets, for people. */
export const identifierLabels: Readonly<Record<PatientIdentifierSystem, string>> = {
  'nhs-number': 'NHS number',
  'chi-number': 'CHI number',
  'gha-number': 'GHA number',
  'hospital-number': 'Hospital number',
  'ssn-number': 'Social security number',
};

/** Returns the value of an identifier as pages show it: an NHS number in groups of 3, 3 and 4 digits. */
export const shownIdentifier = ({ system, value }: CodedIdentifier): string =>
  system === 'nhs-number' ? value.replace(/^(\d{3})(\d{3})(\d{4})$/, '$1 $2 $3') : value;

type NationalSystem = Exclude<PatientIdentifierSystem, 'hospital-number'>;

/** The valid form of each national identifier, and its error message. */
const nationalForms: Readonly<Record<NationalSystem, { message: string; isGiven(bare: string): boolean }>> = {
  'nhs-number': {
    message: 'must be a valid NHS number: ten digits, the last of which is a check digit',
    isGiven: hasCheckDigit,
  },
  'chi-number': {
    message:
      'must be a valid CHI number: the day, month and year of birth, and four digits, the last of which is a check digit',
    isGiven: (bare) => hasCheckDigit(bare) && /^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])/.test(bare),
  },
  'gha-number': { message: 'must be a GHA number: 4 to 20 letters and digits', isGiven: isCode },
  'ssn-number': { message: 'must be a social security number: 4 to 20 letters and digits', isGiven: isCode },
};

/** No public rule is more specific for these numbers. */
function isCode(bare: string): boolean {
  return /^(?=.*\d)[A-Z0-9]{4,20}$/.test(bare);
}

/**
 * Returns whether the tenth digit is correct: weights 10 to 2 and modulus 11 (NHS Data Dictionary, NHS
 * NUMBER). CHI numbers use the same.
 */
function hasCheckDigit(bare: string): boolean {
  if (!/^\d{10}$/.test(bare)) return false;
  let sum = 0;
  for (let index = 0; index < 9; index += 1) sum += Number(bare[index]) * (10 - index);
  // A number whose check digit would be 10 is never issued.
  return (11 - (sum % 11)) % 11 === Number(bare[9]);
}

/** Returns an identifier as it is stored, whatever its spelling. A hospital number is compared exactly. */
export function readPatientIdentifier({
  system,
  value,
}: CodedIdentifier<PatientIdentifierSystem>): PatientIdentifier {
  if (system === 'hospital-number') return { system, value };
  const bare = inCapitals(value.replace(separators, ''));
  return nationalForms[system].isGiven(bare) ? { system, value: bare } : { system, value, isDoubtful: true };
}

/** Returns the value of an identifier as it is compared: of a national one the same for each spelling. */
export const spellingOf = ({ system, value }: CodedIdentifier): string =>
  Object.hasOwn(nationalForms, system) ? inCapitals(value.replace(separators, '')) : value;

/** Returns the error message of an identifier that is invalid in its system; undefined for a valid one. */
export function doubtOf(identifier: CodedIdentifier<PatientIdentifierSystem>): string | undefined {
  const { system, isDoubtful } = readPatientIdentifier(identifier);
  return isDoubtful && system !== 'hospital-number' ? nationalForms[system].message : undefined;
}
