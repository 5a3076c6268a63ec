import type { CodedIdentifier, LaunchRequest, PersonName } from './launch-request.ts';
import { defaultNamespaces, type Namespaces } from './namespaces.ts';

/** A FHIR R4 ServiceRequest with its contained resources, ready to be sent as JSON. */
export type ServiceRequest = {
  readonly resourceType: 'ServiceRequest';
  readonly [element: string]: unknown;
};

/**
 * Converts a launch request to the FHIR R4 ServiceRequest that `RequestLaunchUrl` accepts (OLTR: Resources).
 *
 * @example
 * ```ts
 * const launch = await client.requestLaunch(buildServiceRequest({ action: 'OrderTest', ...record }));
 * ```
 * @param namespaces The namespaces of the platform. Pass them if the operator of the platform does not use
 *   the defaults. The platform answers 400 to a request with other namespaces.
 */
export function buildServiceRequest(
  launch: LaunchRequest,
  namespaces: Namespaces = defaultNamespaces,
): ServiceRequest {
  const { fhir } = namespaces;
  const identifier = identifierIn(namespaces);
  return {
    resourceType: 'ServiceRequest',
    extension: [
      { url: `${fhir}/extension/action`, valueString: launch.action },
      { url: `${fhir}/extension/author`, valueReference: { reference: '#author' } },
    ],
    identifier: [identifier({ system: 'originating-system-id', value: launch.originatingId })],
    subject: { reference: '#patient' },
    authoredOn: launch.authoredOn,
    requester: { reference: '#requester' },
    performer: [{ reference: '#performer' }],
    contained: containedResources(launch, identifier),
  };
}

type WriteIdentifier = (identifier: CodedIdentifier) => CodedIdentifier;

function containedResources(launch: LaunchRequest, identifier: WriteIdentifier): readonly object[] {
  const { author, requester, practice, performer } = launch;
  return [
    {
      resourceType: 'Person',
      id: 'author',
      name: [humanName(author.name)],
      identifier: [identifier({ system: 'username', value: author.username })],
    },
    patientResource(launch.patient, identifier),
    {
      resourceType: 'PractitionerRole',
      id: 'requester',
      practitioner: { reference: '#practitioner' },
      organization: { reference: '#practice' },
    },
    {
      resourceType: 'Practitioner',
      id: 'practitioner',
      identifier: [identifier(requester.identifier)],
      name: [humanName(requester.name)],
    },
    {
      resourceType: 'Organization',
      id: 'practice',
      identifier: [identifier(practice.identifier)],
      name: practice.name,
    },
    {
      resourceType: 'Organization',
      id: 'performer',
      identifier: [identifier(performer.identifier)],
      name: performer.name,
    },
  ];
}

function patientResource(patient: LaunchRequest['patient'], identifier: WriteIdentifier) {
  const { previousFamilyName: previous, address } = patient;
  return {
    resourceType: 'Patient',
    id: 'patient',
    name: [humanName(patient.name), ...(previous === undefined ? [] : [{ use: 'old', family: previous }])],
    birthDate: patient.birthDate,
    gender: patient.gender,
    address: [
      {
        use: 'home',
        type: 'physical',
        ...unlessEmpty('line', address.lines),
        ...(address.postalCode === undefined ? {} : { postalCode: address.postalCode }),
      },
    ],
    identifier: patient.identifiers.map(identifier),
    ...unlessEmpty('telecom', patient.telecom),
  };
}

const nhsSystems = new Set(['nhs-number', 'ods-organization-code']);
const hl7ukSystems = new Set(['professional-code']);

const identifierIn =
  ({ fhir, nhs, hl7uk }: Namespaces): WriteIdentifier =>
  ({ system, value }) => {
    const namespace = nhsSystems.has(system) ? nhs : hl7ukSystems.has(system) ? hl7uk : fhir;
    return { system: `${namespace}/Id/${system}`, value };
  };

const humanName = ({ title, family, given }: PersonName) => ({
  use: 'usual',
  ...(title === undefined ? {} : { prefix: [title] }),
  family,
  ...unlessEmpty('given', given),
});

/** Returns an object with the member. Omits an empty list, because FHIR does not allow empty arrays. */
function unlessEmpty<Name extends string, T>(name: Name, values: readonly T[]) {
  return values.length === 0 ? {} : { [name]: values };
}
