/** The eight actions, in the order of the OLTR specification ("Action definitions"). */
export const actions = [
  'OrderTest',
  'UpdateTest',
  'PatientSampleQueue',
  'PatientRequestList',
  'LocationSampleQueue',
  'PatientReport',
  'PatientReportList',
  'LocationReportList',
] as const;

/** The task for which the OLTR application is opened. */
export type Action = (typeof actions)[number];

/** The name of a person. `given` may be empty. */
export type PersonName = {
  readonly title?: string;
  readonly family: string;
  readonly given: readonly string[];
};

/** An identifier whose system is a name without a namespace, such as `nhs-number`. */
export type CodedIdentifier<System extends string = string> = {
  readonly system: System;
  readonly value: string;
};

/** The code sets that identify a patient. */
export type PatientIdentifierSystem =
  | 'nhs-number'
  | 'chi-number'
  | 'gha-number'
  | 'hospital-number'
  | 'ssn-number';

/** The code sets that identify a clinician. */
export type PractitionerIdentifierSystem = 'professional-code' | 'local-staff-code';

/** The code sets that identify a practice or a laboratory. */
export type OrganizationIdentifierSystem = 'ods-organization-code' | 'local-org-code' | 'performing-org';

/** The patient of a launch. At least one identifier is required. */
export type LaunchPatient = {
  readonly name: PersonName;
  readonly previousFamilyName?: string;
  /** The date of birth in the form YYYY-MM-DD. */
  readonly birthDate: string;
  readonly gender: 'male' | 'female' | 'other' | 'unknown';
  readonly address: { readonly lines: readonly string[]; readonly postalCode?: string };
  readonly identifiers: readonly CodedIdentifier<PatientIdentifierSystem>[];
  readonly telecom: readonly {
    readonly system: 'phone' | 'email';
    readonly value: string;
    readonly use?: 'home' | 'work' | 'mobile';
  }[];
};

/** The clinician who is responsible for the request. */
export type LaunchPractitioner = {
  readonly identifier: CodedIdentifier<PractitionerIdentifierSystem>;
  readonly name: PersonName;
};

/** A practice, or the laboratory that performs the tests. */
export type LaunchOrganization = {
  readonly identifier: CodedIdentifier<OrganizationIdentifierSystem>;
  readonly name: string;
};

/** The content of a ServiceRequest for a launch (OLTR: Resources). */
export type LaunchRequest = {
  readonly action: Action;
  /**
   * Your own identifier of the request. Create a new identifier for each OrderTest. For UpdateTest,
   * PatientSampleQueue and PatientReport, send the identifier of the OrderTest again.
   */
  readonly originatingId: string;
  /** A FHIR dateTime with offset, such as `2026-11-21T09:30:00Z`. */
  readonly authoredOn: string;
  readonly author: { readonly username: string; readonly name: PersonName };
  readonly patient: LaunchPatient;
  readonly requester: LaunchPractitioner;
  readonly practice: LaunchOrganization;
  readonly performer: LaunchOrganization;
};
