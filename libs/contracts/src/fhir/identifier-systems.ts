import type { PatientIdentifierSystem } from '../coded-identifiers.ts';
import type { OrganizationIdentifierSystem, PractitionerIdentifierSystem } from '../launch-context.ts';
import type { Namespaces } from '../namespaces.ts';

/** The identifier systems that payloads may contain, by URI, with their names in the launch context. */
export type IdentifierSystems<Name extends string> = ReadonlyMap<string, Name>;

/** The URIs of extensions and identifier systems in payloads, with the namespaces of the installation. */
export type Vocabulary = {
  readonly actionExtension: string;
  readonly authorExtension: string;
  /** The optional sign-in extension of the author, which the platform defines. */
  readonly signInExtension: string;
  readonly originatingId: string;
  readonly username: string;
  readonly patient: IdentifierSystems<PatientIdentifierSystem>;
  readonly practitioner: IdentifierSystems<PractitionerIdentifierSystem>;
  readonly organization: IdentifierSystems<OrganizationIdentifierSystem>;
};

/** Returns the extension URLs and identifier systems (OLTR: Resources and their fields). */
export function createVocabulary({ fhir, nhs, hl7uk }: Namespaces): Vocabulary {
  return {
    actionExtension: `${fhir}/extension/action`,
    authorExtension: `${fhir}/extension/author`,
    signInExtension: `${fhir}/extension/sign-in`,
    originatingId: `${fhir}/Id/originating-system-id`,
    username: `${fhir}/Id/username`,
    patient: new Map([
      [`${nhs}/Id/nhs-number`, 'nhs-number'],
      [`${fhir}/Id/chi-number`, 'chi-number'],
      [`${fhir}/Id/gha-number`, 'gha-number'],
      [`${fhir}/Id/hospital-number`, 'hospital-number'],
      [`${fhir}/Id/ssn-number`, 'ssn-number'],
    ]),
    practitioner: new Map([
      [`${hl7uk}/Id/professional-code`, 'professional-code'],
      [`${fhir}/Id/local-staff-code`, 'local-staff-code'],
    ]),
    organization: new Map([
      [`${nhs}/Id/ods-organization-code`, 'ods-organization-code'],
      [`${fhir}/Id/local-org-code`, 'local-org-code'],
      [`${fhir}/Id/performing-org`, 'performing-org'],
    ]),
  };
}
