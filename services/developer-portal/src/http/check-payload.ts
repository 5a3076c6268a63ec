import type { Endpoint } from '@clinical-launch/http/endpoint';
import { judgedPayload } from '../present/judged-payload.ts';
import type { Portal } from './portal.ts';
import { readPayload, sendPayload } from './send-payload.ts';

/**
 * Creates the page that shows the faults of a pasted payload at their lines. Does not store the payload, and
 * shows it only in the answer to the form, because a developer may paste the data of a patient.
 */
export const payloadChecker = (portal: Portal): Endpoint =>
  portal.behindSignIn('/developers/payload', {
    GET({ response }) {
      portal.show(response, 'payload.njk', {});
    },
    async POST(visit) {
      const payload = await readPayload(visit);
      const { faults } = await sendPayload(portal, visit, { path: '/AccessApi/Validate', payload });
      portal.show(visit.response, 'payload.njk', { judged: judgedPayload(payload, faults) });
    },
  });
