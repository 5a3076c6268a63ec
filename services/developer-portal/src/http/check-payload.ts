import type { Endpoint } from '@clinical-launch/http/endpoint';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import { judgedPayload } from '../present/judged-payload.ts';
import type { Portal } from './portal.ts';
import { readPayload, sendPayload } from './send-payload.ts';

const checksPerSecond = 5;

/**
 * Creates the page that shows the faults of a pasted payload at their lines. Does not store the payload, and
 * shows it only in the answer to the form, because a developer may paste the data of a patient. Answers 429 to
 * more than five payloads of a session in a second.
 */
export function payloadChecker(portal: Portal): Endpoint {
  const limiter = createRateLimiter(portal.clock);
  return portal.behindSignIn('/developers/payload', {
    GET({ response }) {
      portal.show(response, 'payload.njk', {});
    },
    async POST(visit) {
      limiter.count(visit.sessionId, checksPerSecond);
      const payload = await readPayload(visit);
      const { faults } = await sendPayload(portal, visit, { path: '/AccessApi/Validate', payload });
      portal.show(visit.response, 'payload.njk', { judged: judgedPayload(payload, faults) });
    },
  });
}
