import { createPkcePair } from '@clinical-launch/pms-client';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { openEdge } from './edge.ts';
import { tokenRequest } from './open-launch.ts';
import { type HttpAnswer, sendRequest } from './send-request.ts';
import type { System } from './system.ts';

/** A PMS that sends requests to chosen replicas, one launch at a time. */
export type Pms = {
  /** Returns the path and query of a launch URL. @throws Error if no launch URL is issued */
  requestLaunch(launchApiUrl: string): Promise<string>;
};

/** Requests an access token, and returns a PMS that uses it. */
export async function openPms(system: System): Promise<Pms> {
  const edge = openEdge(system.processes);
  const granted = assertOk(await edge.send(tokenRequest).finally(() => edge.close()));
  const { access_token: token } = JSON.parse(granted.body);
  return {
    async requestLaunch(launchApiUrl) {
      const { codeVerifier, codeChallenge } = createPkcePair();
      const issued = await sendRequest({
        url: `${launchApiUrl}/AccessApi/RequestLaunchUrl`,
        headers: { Authorization: `Bearer ${token}`, 'Code-Challenge': codeChallenge },
        body: JSON.stringify(aServiceRequest()),
      });
      const { pathname, search } = new URL(JSON.parse(assertOk(issued).body).url);
      return `${pathname}${search}&codeVerifier=${codeVerifier}`;
    },
  };
}

function assertOk(answer: HttpAnswer): HttpAnswer {
  if (answer.status !== 200) throw new Error(`The answer was ${answer.status}`);
  return answer;
}
