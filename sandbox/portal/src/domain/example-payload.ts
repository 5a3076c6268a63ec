import { randomUUID } from 'node:crypto';
import type { Action } from '@clinical-launch/contracts/launch-context';
import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { exampleServiceRequest } from '@clinical-launch/contracts/published/example-service-request';
import type { SandboxClient } from './sandbox-clients.ts';

/** A synthetic patient. Numbers that begin with 999 are never issued to people. */
type SyntheticPatient = {
  readonly nhsNumber: string;
  readonly family: string;
  readonly given: readonly string[];
  readonly birthDate: string;
  readonly gender: 'male' | 'female' | 'other' | 'unknown';
};

const firstPatient: SyntheticPatient = {
  nhsNumber: '9990000018',
  family: 'Specimen',
  given: ['Ada'],
  birthDate: '1957-04-03',
  gender: 'female',
};

export const syntheticPatients: readonly SyntheticPatient[] = [
  firstPatient,
  {
    nhsNumber: '9990000085',
    family: 'O’Sample',
    given: ['Brân', 'Huw'],
    birthDate: '1984-11-21',
    gender: 'male',
  },
  { nhsNumber: '9990000158', family: 'Test-Case', given: ['Zoë'], birthDate: '2019-02-28', gender: 'female' },
  { nhsNumber: '9990000220', family: 'Placeholder', given: [], birthDate: '1932-07-14', gender: 'unknown' },
];

/** The actions that may repeat the identifier of an OrderTest. They then open its request. */
export const actsOnExisting: readonly Action[] = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'];

/** Returns an identifier that no request has. */
export const newIdentifier = () => `DEV-${randomUUID()}`;

type ExampleLaunch = {
  readonly patient?: SyntheticPatient;
  /** The NHS number to send, which may differ from the number of the patient. */
  readonly nhsNumber?: string;
  readonly action?: Action;
  readonly identifier?: string;
  /** The time of the request, in milliseconds since 1970. */
  readonly now: number;
};

/**
 * Returns the published example payload with the chosen patient, action and identifier, and a practice of the
 * client. Its performer is the laboratory of the shipped catalogue. By default, it is an OrderTest with a new
 * identifier.
 */
export function examplePayload(
  { policy: { practices } }: SandboxClient,
  namespaces: Namespaces,
  { patient = firstPatient, nhsNumber = patient.nhsNumber, now, ...launch }: ExampleLaunch,
) {
  const { action = 'OrderTest', identifier = newIdentifier() } = launch;
  const [practice] = practices === undefined || practices === 'any' ? [] : practices;
  const { fhir, nhs } = namespaces;
  const example = exampleServiceRequest(namespaces);
  const laboratory = { system: `${fhir}/Id/performing-org`, value: 'RCB00' };
  const adapted: Readonly<Record<string, object>> = {
    'patient-1': patientOf(patient, nhsNumber, namespaces),
    'organization-1':
      practice === undefined ? {} : { identifier: [practiceIdentifier(practice, { fhir, nhs })] },
    'organization-2': { identifier: [laboratory], name: 'North Coast Pathology' },
  };
  return {
    ...example,
    extension: example.extension.map((one) => ('valueString' in one ? { ...one, valueString: action } : one)),
    identifier: example.identifier.map((one) => ({ ...one, value: identifier })),
    authoredOn: new Date(now).toISOString(),
    contained: example.contained.map((resource) => ({ ...resource, ...adapted[resource.id] })),
  };
}

function patientOf(
  { family, given, birthDate, gender }: SyntheticPatient,
  nhsNumber: string,
  { nhs }: Namespaces,
) {
  const name = { use: 'usual', family, ...(given.length === 0 ? {} : { given }) };
  return {
    name: [name],
    birthDate,
    gender,
    identifier: [{ system: `${nhs}/Id/nhs-number`, value: nhsNumber }],
  };
}

const practiceIdentifier = (
  { system, code }: { readonly system: string; readonly code: string },
  { fhir, nhs }: Pick<Namespaces, 'fhir' | 'nhs'>,
) => ({ system: `${system === 'ods-organization-code' ? nhs : fhir}/Id/${system}`, value: code });
