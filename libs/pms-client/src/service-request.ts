import {
  defaultNamespaces,
  type LaunchRequest,
  type Namespaces,
  type PersonName,
} from '@clinical-launch/contracts';

/** Writes a launch request as the FHIR R4 ServiceRequest that `RequestLaunchUrl` takes (OLTR: Resources). */
export function buildServiceRequest(
  launch: LaunchRequest,
  { fhir, nhs, hl7uk }: Namespaces = defaultNamespaces,
) {
  const identifier = ({ system, value }: { system: string; value: string }) => {
    const namespace = nhsSystems.has(system) ? nhs : hl7ukSystems.has(system) ? hl7uk : fhir;
    return { system: `${namespace}/Id/${system}`, value };
  };
  const { patient, author, requester, practice, performer } = launch;
  const previous = patient.previousFamilyName;
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
    contained: [
      {
        resourceType: 'Person',
        id: 'author',
        name: [humanName(author.name)],
        identifier: [identifier({ system: 'username', value: author.username })],
      },
      {
        resourceType: 'Patient',
        id: 'patient',
        name: [
          humanName(patient.name),
          ...(previous === undefined ? [] : [{ use: 'old', family: previous }]),
        ],
        birthDate: patient.birthDate,
        gender: patient.gender,
        address: [
          {
            use: 'home',
            type: 'physical',
            ...unlessEmpty('line', patient.address.lines),
            ...(patient.address.postalCode === undefined ? {} : { postalCode: patient.address.postalCode }),
          },
        ],
        identifier: patient.identifiers.map(identifier),
        ...unlessEmpty('telecom', patient.telecom),
      },
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
    ],
  };
}

const nhsSystems = new Set(['nhs-number', 'ods-organization-code']);
const hl7ukSystems = new Set(['professional-code']);

const humanName = ({ title, family, given }: PersonName) => ({
  use: 'usual',
  ...(title === undefined ? {} : { prefix: [title] }),
  family,
  ...unlessEmpty('given', given),
});

/** FHIR has no empty arrays. */
function unlessEmpty<Name extends string, T>(name: Name, values: readonly T[]) {
  return values.length === 0 ? {} : { [name]: values };
}
