import { isMembers, membersOf } from '@clinical-launch/conformance/exchange';
import { actions } from '@clinical-launch/contracts/launch-context';
import { redirect } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import {
  actsOnExisting,
  examplePayload,
  newIdentifier,
  syntheticPatients,
} from '../domain/example-payload.ts';
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
    const entered = (name: string) => form.get(name)?.trim() ?? '';
    const [otherNumber, earlier] = [entered('nhsNumber'), entered('identifier')];
    const payload = examplePayload(client, config.namespaces, {
      patient,
      action,
      now: clock.now(),
      ...(otherNumber && { nhsNumber: otherNumber }),
      ...(actsOnExisting.includes(action) && earlier && { identifier: earlier }),
    });
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
        const read = await readPayload(visit);
        const payload = read.isNew ? withNewIdentifier(read.payload) : read.payload;
        const path = '/AccessApi/RequestLaunchUrl';
        const { faults, openUrl } = await sendPayload(portal, visit, { path, payload });
        if (faults.length === 0) return redirect(response, openUrl());
        response.statusCode = 400;
        show(response, 'refused.njk', { judged: judgedPayload(payload, faults) });
      },
    }),
  ];
}

/** Returns a payload with a new identifier, so that the same form can launch again. */
function withNewIdentifier(payload: string): string {
  const members = membersOf(payload);
  const { identifier } = members;
  if (!Array.isArray(identifier)) return payload;
  const renewed = identifier.map((one: unknown) =>
    isMembers(one) ? { ...one, value: newIdentifier() } : one,
  );
  return JSON.stringify({ ...members, identifier: renewed }, undefined, 2);
}
