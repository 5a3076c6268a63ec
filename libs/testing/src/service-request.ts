import { randomUUID } from 'node:crypto';
import type { Action } from '@clinical-launch/contracts/launch-context';
import { defaultNamespaces, type Namespaces } from '@clinical-launch/contracts/namespaces';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Json } from './json-edit.ts';

type Members = { [member: string]: Json | undefined };

/**
 * The parts of a payload that a test may set. The given members replace the members of the default resource.
 */
export type ServiceRequestParts = {
  readonly action?: Action | undefined;
  /**
   * The caller's identifier. If absent, a new identifier is created, because each identifier can be used only
   * once.
   */
  readonly originatingId?: string | undefined;
  readonly authoredOn?: string | undefined;
  readonly author?: Members | undefined;
  readonly patient?: Members | undefined;
  readonly requester?: Members | undefined;
  readonly clinician?: Members | undefined;
  readonly practice?: Members | undefined;
  readonly laboratory?: Members | undefined;
  /** Members of the ServiceRequest itself. */
  readonly request?: Members | undefined;
  readonly namespaces?: Namespaces | undefined;
};

/** The path of each contained resource of `aServiceRequest`. */
export const containedAt = {
  author: 'contained[0]',
  patient: 'contained[1]',
  requester: 'contained[2]',
  clinician: 'contained[3]',
  practice: 'contained[4]',
  laboratory: 'contained[5]',
} as const;

/**
 * Returns a valid ServiceRequest payload (OLTR: Resources and their fields) about an invented patient, as
 * plain JSON. A member set to `undefined` is omitted: `aServiceRequest({ patient: { telecom: undefined } })`.
 */
export function aServiceRequest(parts: ServiceRequestParts = {}): { [member: string]: Json } {
  const namespaces = parts.namespaces ?? defaultNamespaces;
  const { fhir } = namespaces;
  return withoutUndefined({
    resourceType: 'ServiceRequest',
    extension: [
      { url: `${fhir}/extension/action`, valueString: parts.action ?? 'OrderTest' },
      { url: `${fhir}/extension/author`, valueReference: { reference: '#author' } },
    ],
    identifier: [
      { system: `${fhir}/Id/originating-system-id`, value: parts.originatingId ?? `HS-${randomUUID()}` },
    ],
    subject: { reference: '#patient' },
    authoredOn: parts.authoredOn ?? '2023-11-06T19:43:05Z',
    requester: { reference: '#requester' },
    performer: [{ reference: '#laboratory' }],
    contained: containedResources(parts, namespaces),
    ...parts.request,
  });
}

function containedResources(parts: ServiceRequestParts, { fhir, nhs, hl7uk }: Namespaces): Json[] {
  return [
    withoutUndefined({
      resourceType: 'Person',
      id: 'author',
      name: [{ use: 'usual', prefix: ['Dr'], family: 'Okonkwo', given: ['Adaeze'] }],
      identifier: [{ system: `${fhir}/Id/username`, value: 'a.okonkwo' }],
      ...parts.author,
    }),
    patientResource(parts, { fhir, nhs, hl7uk }),
    withoutUndefined({
      resourceType: 'PractitionerRole',
      id: 'requester',
      practitioner: { reference: '#clinician' },
      organization: { reference: '#practice' },
      ...parts.requester,
    }),
    withoutUndefined({
      resourceType: 'Practitioner',
      id: 'clinician',
      identifier: [{ system: `${hl7uk}/Id/professional-code`, value: 'G8134567' }],
      name: [{ use: 'usual', prefix: ['Dr'], family: 'Bairstow', given: ['Thomas'] }],
      ...parts.clinician,
    }),
    withoutUndefined({
      resourceType: 'Organization',
      id: 'practice',
      identifier: [{ system: `${nhs}/Id/ods-organization-code`, value: 'B82017' }],
      name: 'Harbour Surgery',
      ...parts.practice,
    }),
    withoutUndefined({
      resourceType: 'Organization',
      id: 'laboratory',
      identifier: [{ system: `${fhir}/Id/performing-org`, value: 'RCB00' }],
      name: 'North Coast Pathology',
      ...parts.laboratory,
    }),
  ];
}

function patientResource({ patient }: ServiceRequestParts, { fhir, nhs }: Namespaces): Json {
  return withoutUndefined({
    resourceType: 'Patient',
    id: 'patient',
    name: [
      { use: 'usual', prefix: ['Mrs'], family: 'Whitfield', given: ['Margaret', 'Anne'] },
      { use: 'old', family: 'Pemberton' },
    ],
    birthDate: '1958-02-28',
    gender: 'female',
    address: [
      {
        use: 'home',
        type: 'physical',
        line: ['Flat 3', '12 Harbour Lane', 'Whitby'],
        postalCode: 'YO21 3PU',
      },
    ],
    identifier: [
      { system: `${nhs}/Id/nhs-number`, value: '9434765919' },
      { system: `${fhir}/Id/hospital-number`, value: 'WH-0042317' },
    ],
    telecom: [
      { system: 'phone', value: '01947 555 0142', use: 'home' },
      { system: 'phone', value: '07700 900461', use: 'mobile' },
      { system: 'email', value: 'margaret.whitfield@example.org' },
    ],
    ...patient,
  });
}
