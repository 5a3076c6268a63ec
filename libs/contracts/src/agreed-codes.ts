import { Type } from './type.ts';

/** An identifier whose system is written without its namespace: `nhs-number`, `ods-organization-code`. */
export type CodedIdentifier<System extends string = string> = {
  readonly system: System;
  readonly value: string;
};

/** Returns the properties of a code in a file that an operator writes. */
const codeOf = <const System extends string>(...systems: System[]) => ({
  system: Type.Enum(systems),
  code: Type.String({ minLength: 1, maxLength: 1024 }),
});

/** The code of a practice (OLTR: Organization). */
export const practiceCode = codeOf('ods-organization-code', 'local-org-code');

/** The code of a performer (OLTR: Organization, with the system of its example). */
export const performerCode = codeOf('ods-organization-code', 'local-org-code', 'performing-org');

/** The code of a clinician (OLTR: Practitioner). */
export const clinicianCode = codeOf('professional-code', 'local-staff-code');

/** Compared without regard to case: ODS codes, and the ODS or NACS codes of clinicians. */
const nationalSystems: ReadonlySet<string> = new Set(['ods-organization-code', 'professional-code']);

/**
 * Returns the key by which two codes are compared. National codes are compared without regard to case, local
 * ones exactly, and codes of different code sets are never the same.
 */
export const codeKeyOf = ({ system, value }: CodedIdentifier) =>
  `${system} ${nationalSystems.has(system) ? inCapitals(value) : value}`;

/** Changes only the letters a to z, as `upper(… collate "C")` does in the database. */
export const inCapitals = (code: string) => code.replace(/[a-z]/g, (letter) => letter.toUpperCase());
