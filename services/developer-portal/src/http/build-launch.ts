import { randomUUID } from 'node:crypto';
import { actions } from '@clinical-launch/contracts/launch-context';
import { redirect } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { actsOnExisting, examplePayload, syntheticPatients } from '../domain/example-launch.ts';
import { judgedPayload } from '../present/judged-payload.ts';
import { inOwnFrame } from './pages.ts';
import type { Portal, Visit } from './portal.ts';
import { readPayload, sendPayload } from './send-payload.ts';

/**
 * Creates the launch builder: a page that builds a payload and shows the calls of a launch, and the endpoint
 * that launches the payload. The browser never receives the access token.
 */
export function launchBuilder(portal: Portal): readonly Endpoint[] {
  const { config, clock, show } = portal;
  // Launch URLs have this origin. The policy of the page must allow it for form redirects and for frames.
  const origins = config.oltrServer === config.publicUrl ? [] : [config.oltrServer];

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
      isFramable: isAncestor(config.publicUrl, client.policy.frameAncestors),
      config,
      client,
    };
    show(response, 'launches.njk', model, { formActions: origins, frames: origins });
  };

  return [
    portal.behindSignIn('/developers/launches', {
      GET(visit) {
        const patient = syntheticPatients[0]?.nhsNumber ?? '';
        build(visit, new URLSearchParams({ patient, action: 'OrderTest' }));
      },
      async POST(visit) {
        build(visit, await readForm(visit));
      },
    }),
    portal.behindSignIn('/developers/launches/open', {
      async POST(visit) {
        const { response } = visit;
        const payload = await readPayload(visit);
        const path = '/AccessApi/RequestLaunchUrl';
        const { faults, openUrl } = await sendPayload(portal, visit, { path, payload });
        if (faults.length === 0) return redirect(response, openUrl());
        response.statusCode = 400;
        show(response, 'refused.njk', { judged: judgedPayload(payload, faults) }, inOwnFrame);
      },
    }),
  ];
}

/**
 * Returns true if the frame ancestors of a client contain an origin. An ancestor such as
 * `https://*.practice.example` contains every host below its domain (CSP Level 3 section 6.7.2.8).
 */
const isAncestor = (origin: string, ancestors: readonly string[] = []): boolean =>
  ancestors.some((ancestor) => {
    const [scheme = '', domain] = ancestor.split('*');
    return domain === undefined ? ancestor === origin : origin.startsWith(scheme) && origin.endsWith(domain);
  });
