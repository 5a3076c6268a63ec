import type { PatientIdentifier } from './patient-identifiers.ts';
import type { PracticeBinding } from './practice-binding.ts';

/** The eight actions of the OLTR specification ("Action definitions"), in its order. */
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

export type Action = (typeof actions)[number];

export type PersonName = {
  readonly title?: string;
  readonly family: string;
  readonly given: readonly string[];
};

/** An identifier whose system is written without its namespace: `nhs-number`, `ods-organization-code`. */
export type CodedIdentifier<System extends string = string> = {
  readonly system: System;
  readonly value: string;
};

export type PatientIdentifierSystem =
  | 'nhs-number'
  | 'chi-number'
  | 'gha-number'
  | 'hospital-number'
  | 'ssn-number';
export type PractitionerIdentifierSystem = 'professional-code' | 'local-staff-code';
export type OrganizationIdentifierSystem = 'ods-organization-code' | 'local-org-code' | 'performing-org';

export type LaunchPatient = {
  readonly name: PersonName;
  readonly previousFamilyName?: string;
  /** YYYY-MM-DD */
  readonly birthDate: string;
  readonly gender: 'male' | 'female' | 'other' | 'unknown';
  readonly address: { readonly lines: readonly string[]; readonly postalCode?: string };
  readonly identifiers: readonly PatientIdentifier[];
  readonly telecom: readonly {
    readonly system: 'phone' | 'email';
    readonly value: string;
    readonly use?: 'home' | 'work' | 'mobile';
  }[];
};

export type LaunchPractitioner = {
  readonly identifier: CodedIdentifier<PractitionerIdentifierSystem>;
  readonly name: PersonName;
};

export type LaunchOrganization = {
  readonly identifier: CodedIdentifier<OrganizationIdentifierSystem>;
  readonly name: string;
};

/** What survives of a ServiceRequest: the supported elements of the specification's tables and nothing else. */
export type LaunchRequest = {
  readonly action: Action;
  readonly originatingId: string;
  /** FHIR dateTime with offset, as the caller wrote it. */
  readonly authoredOn: string;
  readonly author: { readonly username: string; readonly name: PersonName };
  readonly patient: LaunchPatient;
  readonly requester: LaunchPractitioner;
  readonly practice: LaunchOrganization;
  readonly performer: LaunchOrganization;
};

/** The context of a launch token and of the launch session that succeeds it. */
export type LaunchContext = {
  /** The GUID of the request that asked for the launch: correlation id of everything that follows. */
  readonly launchId: string;
  readonly client: {
    readonly issuer: string;
    readonly clientId: string;
    /** Origins whose pages may frame the application; none by default. */
    readonly frameAncestors: readonly string[];
    /** Origin to which the result page offers the order document by postMessage. */
    readonly resultOrigin?: string;
    /** The practices that the client was bound to when the launch was requested; any when absent. */
    readonly practices?: PracticeBinding;
  };
  readonly request: LaunchRequest;
};
