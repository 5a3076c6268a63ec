import type { Fault } from './fault.ts';
import { bareCode } from './formats.ts';
import type { StaticOf } from './schema.ts';
import { type Static, Type } from './type.ts';

/** An identifier whose system is a name without a namespace, such as `nhs-number`. */
export type CodedIdentifier<System extends string = string> = {
  readonly system: System;
  readonly value: string;
};

/** Returns the schema properties of a code that an operator writes in the registry or the directory. */
const codeOf = <const System extends string>(...systems: System[]) => ({
  system: Type.Enum(systems),
  code: Type.String({ minLength: 1, maxLength: 1024 }),
});

/** The code of a practice (OLTR: Organization). */
export const practiceCode = codeOf('ods-organization-code', 'local-org-code');

/**
 * The code of a performer (OLTR: Organization). The example in the specification also uses the system
 * `performing-org`.
 */
export const performerCode = codeOf('ods-organization-code', 'local-org-code', 'performing-org');

/** The code of a clinician (OLTR: Practitioner). */
export const clinicianCode = codeOf('professional-code', 'local-staff-code');

/** The code sets whose codes are case-insensitive: ODS codes, and ODS or NACS codes of clinicians. */
const nationalCodeSets: ReadonlySet<string> = new Set(['ods-organization-code', 'professional-code']);

/**
 * Returns a key that is the same for equal codes. National codes are case-insensitive, and local codes are
 * case-sensitive. Codes of different code sets are never equal.
 */
export const codeKeyOf = ({ system, value }: CodedIdentifier) =>
  `${system} ${nationalCodeSets.has(system) ? inCapitals(value) : value}`;

/** Returns the key (`codeKeyOf`) of a code that an operator wrote. */
export const writtenKeyOf = ({ system, code }: { readonly system: string; readonly code: string }) =>
  codeKeyOf({ system, value: bareCode(code) });

/** Converts only the letters a to z to upper case, as `upper(… collate "C")` does in the database. */
export const inCapitals = (code: string) => code.replace(/[a-z]/g, (letter) => letter.toUpperCase());

const odsCode = 'ods-organization-code';
const localCode = 'local-org-code';

/** The limit exists because the context of every launch contains all practices of its client. */
const maxPractices = 1000;

/** A practice, as an operator writes it. */
export const writtenPractice = Type.Object(practiceCode, { additionalProperties: false });

export type WrittenPractice = Static<typeof writtenPractice>;

/** The practices for which a client may request launches, as written in the registry: `"any"`, or a list. */
export const statedPracticesSchema = Type.Unsafe<'any' | WrittenPractice[]>({
  type: ['string', 'array'],
  pattern: '^any$',
  description: 'must be "any" or a list of practices',
  items: writtenPractice,
  minItems: 1,
  maxItems: maxPractices,
});

/** The codes of the practices for which a client may launch, by code set. ODS codes are in upper case. */
export const practiceBindingSchema = Type.Object({
  [odsCode]: Type.Array(Type.String()),
  [localCode]: Type.Array(Type.String()),
});

export type PracticeBinding = {
  readonly [odsCode]: readonly string[];
  readonly [localCode]: readonly string[];
};

/**
 * Returns the practices for which a client may launch. Returns undefined if the registry states `"any"` or
 * nothing.
 */
export function practiceBindingOf(
  stated: 'any' | readonly WrittenPractice[] | undefined,
): PracticeBinding | undefined {
  if (stated === undefined || stated === 'any') return undefined;
  const codesOf = (system: string) =>
    stated.filter((one) => one.system === system).map(({ code }) => bareCode(code));
  return { [odsCode]: codesOf(odsCode).map(inCapitals), [localCode]: codesOf(localCode) };
}

/** Returns true if a client may launch for a practice. ODS codes are case-insensitive. */
export function isAgreedPractice(
  { system, value = '' }: { readonly system: string; readonly value?: string | undefined },
  binding: PracticeBinding,
): boolean {
  switch (system) {
    case odsCode:
      return binding[odsCode].includes(inCapitals(value));
    case localCode:
      return binding[localCode].includes(value);
    default:
      return false;
  }
}

export const patientIdentifierSchema = Type.Object(
  {
    system: Type.Enum(['nhs-number', 'chi-number', 'gha-number', 'hospital-number', 'ssn-number']),
    value: Type.String({ minLength: 1 }),
    /**
     * True if the value identified nobody by the rules of the release that stored it (`doubtOf`). The previous
     * release and SQL conditions read this member.
     */
    isDoubtful: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false },
);

/**
 * A stored patient identifier. Valid national identifiers are in upper case without spaces or hyphens, so
 * that all spellings identify the same person.
 */
export type PatientIdentifier = StaticOf<typeof patientIdentifierSchema>;
export type PatientIdentifierSystem = PatientIdentifier['system'];

/** Returns true if a text is the name of a system of patient identifiers. */
export const isPatientSystem = (system: string): system is PatientIdentifierSystem =>
  Object.hasOwn(identifierLabels, system);

/** Returns true if identifiers of this system are unique nationally, not only within one hospital. */
export const isNational = (system: PatientIdentifierSystem): boolean => system !== 'hospital-number';

/** Matches spaces, hyphens, and similar or invisible characters. */
const separators = /[\s\p{Cf}\p{Variation_Selector}\u2010-\u2015\u2212-]/gu;

export const identifierLabels: Readonly<Record<PatientIdentifierSystem, string>> = {
  'nhs-number': 'NHS number',
  'chi-number': 'CHI number',
  'gha-number': 'GHA number',
  'hospital-number': 'Hospital number',
  'ssn-number': 'Social security number',
};

/** Returns the value of an identifier for display. Writes an NHS number in groups of 3, 3 and 4 digits. */
export const shownIdentifier = ({ system, value }: CodedIdentifier): string =>
  system === 'nhs-number' ? value.replace(/^(\d{3})(\d{3})(\d{4})$/, '$1 $2 $3') : value;

type NationalSystem = Exclude<PatientIdentifierSystem, 'hospital-number'>;

/**
 * The reason why an identifier identifies nobody: people write the value where they do not know the
 * identifier, the value is never issued, or the value has the wrong form or check digit.
 */
export type Doubt = 'placeholder' | 'never-issued' | 'mistyped';

/** A day and month of birth, with which every CHI number begins. */
const dayAndMonth = '(?:0[1-9]|[12]\\d)(?:0[1-9]|1[0-2])|30(?:0[13-9]|1[0-2])|31(?:0[13578]|1[02])';
const birthDayForm = new RegExp(`^(?:${dayAndMonth})`);

/** The values of each system that fulfil the form of the system, but are never the number of a person. */
const nobodys: Readonly<Record<NationalSystem, Partial<Record<Exclude<Doubt, 'mistyped'>, RegExp>>>> = {
  'nhs-number': {
    placeholder: /^(?:(\d)\1{9}|0123456789|9876543210)$/,
    // The ranges that nobody issues: NHS Data Dictionary, NHS NUMBER; uk-fci/nhs-number, `constants.py`.
    // From 0101 to 3112, the numbers are Scotland's CHI numbers. Numbers that begin with 9 are for tests.
    'never-issued': new RegExp(
      `^(?=\\d{10}$)(?:00|0100|311[3-9]|31[2-9]|5|8[6-9]|(?!${dayAndMonth})(?:0|[12]|30|31))`,
    ),
  },
  'chi-number': { placeholder: /^(\d)\1{9}$/ },
  'gha-number': { placeholder: /^(\d)\1*$/ },
  'ssn-number': { placeholder: /^(\d)\1*$/ },
};

/** The check of each national identifier, and the error message for an invalid value. */
const nationalForms: Readonly<Record<NationalSystem, { message: string; isGiven(bare: string): boolean }>> = {
  'nhs-number': {
    message: 'must be a valid NHS number: ten digits, the last of which is a check digit',
    isGiven: hasCheckDigit,
  },
  'chi-number': {
    message:
      'must be a valid CHI number: the day, month and year of birth, and four digits, the last of which is a check digit',
    isGiven: (bare) => hasCheckDigit(bare) && birthDayForm.test(bare),
  },
  'gha-number': { message: 'must be a GHA number: 4 to 20 letters and digits', isGiven: isCode },
  'ssn-number': { message: 'must be a social security number: 4 to 20 letters and digits', isGiven: isCode },
};

/** Words that people enter where a patient has no hospital number, with only their letters and digits. */
const hospitalPlaceholders: ReadonlySet<string> = new Set(
  `UNKNOWN UNK NOTKNOWN NK NONE NIL NULL UNDEFINED NA NOTAPPLICABLE NOTAVAILABLE NOTAVAIL NONUMBER NOHOSPITALNUMBER
  TBC TOBECONFIRMED TBA TBD TEMP TEMPORARY PENDING AWAITED AWAITING MISSING BLANK EMPTY DUMMY TEST NEW NEWPATIENT
  NOTREGISTERED UNREGISTERED NOTGIVEN NOTPROVIDED NOTSUPPLIED NOTRECORDED NOTALLOCATED NOTASSIGNED NOTISSUED
  X XX XXX XXXX`.split(/\s+/),
);

/** Returns true for a word of the list, for a value without letters and digits, and if all digits are 0. */
function isHospitalPlaceholder(value: string): boolean {
  const bare = value.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');
  const digits = bare.replace(/\P{N}/gu, '');
  return bare === '' || /^0+$/.test(digits) || hospitalPlaceholders.has(bare);
}

/** Checks GHA and social security numbers. No public rule for these numbers is more specific. */
function isCode(bare: string): boolean {
  return /^(?=.*\d)[A-Z0-9]{4,20}$/.test(bare);
}

/**
 * Returns true if the tenth digit is the correct check digit: weights 10 to 2 and modulus 11 (NHS Data
 * Dictionary, NHS NUMBER). CHI numbers use the same rule.
 */
function hasCheckDigit(bare: string): boolean {
  if (!/^\d{10}$/.test(bare)) return false;
  let sum = 0;
  for (let index = 0; index < 9; index += 1) sum += Number(bare[index]) * (10 - index);
  // A number whose check digit would be 10 is never issued.
  return (11 - (sum % 11)) % 11 === Number(bare[9]);
}

/**
 * Returns the reason why an identifier identifies nobody, or undefined for an identifier of one patient. Never
 * joins two patients by an identifier with a reason.
 */
export function doubtOf({ system, value }: CodedIdentifier<PatientIdentifierSystem>): Doubt | undefined {
  if (system === 'hospital-number') return isHospitalPlaceholder(value) ? 'placeholder' : undefined;
  const bare = inCapitals(value.replace(separators, ''));
  const { placeholder, 'never-issued': neverIssued } = nobodys[system];
  if (placeholder?.test(bare)) return 'placeholder';
  if (neverIssued?.test(bare)) return 'never-issued';
  return nationalForms[system].isGiven(bare) ? undefined : 'mistyped';
}

/** Returns true if an identifier identifies one patient. */
export const isSure = (identifier: CodedIdentifier<PatientIdentifierSystem>): boolean =>
  doubtOf(identifier) === undefined;

/**
 * Returns true if the order document, the request form and labels may contain an identifier. They omit
 * placeholders and numbers that are never issued, by which a laboratory could join two patients.
 */
export function isPrintable(identifier: CodedIdentifier<PatientIdentifierSystem>): boolean {
  const doubt = doubtOf(identifier);
  return doubt === undefined || doubt === 'mistyped';
}

/**
 * Returns a pattern of the values of a system that fulfil the form of the system and still identify nobody,
 * for conditions in SQL.
 */
export function nobodysPattern(system: PatientIdentifierSystem): string {
  const patterns = system === 'hospital-number' ? [] : Object.values(nobodys[system]);
  return patterns.map(({ source }) => source).join('|');
}

/**
 * Converts an identifier to the form in which it is stored. Marks an identifier that identifies nobody as
 * doubtful. Changes neither doubtful identifiers nor hospital numbers.
 */
export function readPatientIdentifier({
  system,
  value,
}: CodedIdentifier<PatientIdentifierSystem>): PatientIdentifier {
  if (!isSure({ system, value })) return { system, value, isDoubtful: true };
  return { system, value: spellingOf({ system, value }) };
}

/**
 * Returns the value of an identifier for comparisons. It is the same for all spellings of a national
 * identifier.
 */
export const spellingOf = ({ system, value }: CodedIdentifier): string =>
  Object.hasOwn(nationalForms, system) ? inCapitals(value.replace(separators, '')) : value;

/**
 * Returns an error message if a national identifier identifies nobody, or undefined. Ignores hospital numbers.
 */
export function identifierFault({
  system,
  value,
}: CodedIdentifier<PatientIdentifierSystem>): string | undefined {
  if (system === 'hospital-number') return undefined;
  const { message } = nationalForms[system];
  const [needed = ''] = message.split(':');
  switch (doubtOf({ system, value })) {
    case undefined:
      return undefined;
    case 'placeholder':
      return `${needed}, not a placeholder`;
    case 'never-issued':
      return `${needed}: numbers of this range are never issued`;
    case 'mistyped':
      return message;
  }
}

/**
 * Checks that an NHS number of a sandbox client belongs to a synthetic patient. Numbers that begin with 999 are
 * reserved for tests and never issued to people. Ignores a value that is blank or not a string, which the
 * schema reports.
 */
export function syntheticNumberFaults(value: unknown, path: string): Fault[] {
  if (typeof value !== 'string') return [];
  const isAllowed = /^(999|$)/.test(spellingOf({ system: 'nhs-number', value }));
  const message = 'must begin with 999, because this client takes synthetic patients only';
  return isAllowed ? [] : [{ path, message, code: 'business-rule' }];
}
