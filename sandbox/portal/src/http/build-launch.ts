import { randomUUID } from 'node:crypto';
import { type Action, actions } from '@clinical-launch/contracts/launch-context';
import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { exampleServiceRequest } from '@clinical-launch/contracts/published/example-service-request';
import { redirect } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { judgedPayload } from '../present/judged-payload.ts';
import type { Portal, Visit } from './portal.ts';
import { readPayload, sendPayload } from './send-payload.ts';

/**
 * Creates the launch builder: a page that builds a payload, and the endpoint that launches the payload. The
 * browser never receives the access token.
 */
export function launchBuilder(portal: Portal): readonly Endpoint[] {
  const { config, clock, show } = portal;
  // Launch URLs have this origin. The policy of the page must allow it for form redirects.
  const formActions = config.oltrServer === config.publicUrl ? [] : [config.oltrServer];

  const build = ({ response, client }: Visit, form: URLSearchParams) => {
    const patient = syntheticPatients.find(({ nhsNumber }) => nhsNumber === form.get('patient'));
    const action = actions.find((name) => name === form.get('action'));
    if (patient === undefined || action === undefined)
      throw new ServiceError({ code: 'faulty_form', message: 'Choose a patient and an action' });
    const { practices } = client.policy;
    const [practice] = practices === undefined || practices === 'any' ? [] : practices;
    const entered = (name: string) => form.get(name)?.trim() ?? '';
    const [otherNumber, earlier] = [entered('nhsNumber'), entered('identifier')];
    const payload = examplePayload(
      {
        patient,
        action,
        nhsNumber: otherNumber || patient.nhsNumber,
        identifier: (actsOnExisting.includes(action) && earlier) || `DEV-${randomUUID()}`,
        authoredOn: new Date(clock.now()).toISOString(),
        ...(practice && { practice }),
      },
      config.namespaces,
    );
    const model = {
      payload: JSON.stringify(payload, undefined, 2),
      chosen: { patient: patient.nhsNumber, action, nhsNumber: otherNumber, identifier: earlier },
      patients: syntheticPatients,
      actions,
      actsOnExisting,
    };
    show(response, 'launches.njk', model, { formActions });
  };

  return [
    portal.ofClient('/developers/launches', {
      GET(visit) {
        const patient = syntheticPatients[0]?.nhsNumber ?? '';
        build(visit, new URLSearchParams({ patient, action: 'OrderTest' }));
      },
      async POST(visit) {
        build(visit, await readForm(visit));
      },
    }),
    portal.ofClient('/developers/launches/open', {
      async POST(visit) {
        const { response } = visit;
        const payload = await readPayload(visit);
        const path = '/AccessApi/RequestLaunchUrl';
        const { faults, openUrl } = await sendPayload(portal, visit, { path, payload });
        if (faults.length === 0) return redirect(response, openUrl());
        response.statusCode = 400;
        show(response, 'refused.njk', { judged: judgedPayload(payload, faults) });
      },
    }),
  ];
}

/** A synthetic patient. Numbers that begin with 999 are never issued to people. */
type SyntheticPatient = {
  readonly nhsNumber: string;
  readonly family: string;
  readonly given: readonly string[];
  readonly birthDate: string;
  readonly gender: 'male' | 'female' | 'other' | 'unknown';
};

const syntheticPatients: readonly SyntheticPatient[] = [
  { nhsNumber: '9990000018', family: 'Specimen', given: ['Ada'], birthDate: '1957-04-03', gender: 'female' },
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
const actsOnExisting: readonly Action[] = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'];

type ExampleLaunch = {
  readonly patient: SyntheticPatient;
  /** The NHS number to send, which may differ from the number of the patient. */
  readonly nhsNumber: string;
  readonly action: Action;
  readonly identifier: string;
  /** A FHIR dateTime with offset. */
  readonly authoredOn: string;
  /** The practice of the requester. If absent, the payload contains the practice of the published example. */
  readonly practice?: { readonly system: string; readonly code: string };
};

/**
 * Returns the published example payload with the chosen patient, action, identifier and practice. Its performer
 * is the laboratory of the shipped catalogue.
 */
function examplePayload(launch: ExampleLaunch, namespaces: Namespaces) {
  const { action, identifier, authoredOn, practice } = launch;
  const { fhir, nhs } = namespaces;
  const example = exampleServiceRequest(namespaces);
  const laboratory = { system: `${fhir}/Id/performing-org`, value: 'RCB00' };
  const adapted: Readonly<Record<string, object>> = {
    'patient-1': patientOf(launch, namespaces),
    'organization-1':
      practice === undefined ? {} : { identifier: [practiceIdentifier(practice, { fhir, nhs })] },
    'organization-2': { identifier: [laboratory], name: 'North Coast Pathology' },
  };
  return {
    ...example,
    extension: example.extension.map((one) => ('valueString' in one ? { ...one, valueString: action } : one)),
    identifier: example.identifier.map((one) => ({ ...one, value: identifier })),
    authoredOn,
    contained: example.contained.map((resource) => ({ ...resource, ...adapted[resource.id] })),
  };
}

function patientOf({ patient, nhsNumber }: ExampleLaunch, { nhs }: Namespaces) {
  const { family, given, birthDate, gender } = patient;
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
