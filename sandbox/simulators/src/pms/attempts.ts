import type { Action } from '@clinical-launch/contracts/launch-context';
import { createPkcePair, LaunchRefused, type PmsClient } from '@clinical-launch/pms-client';
import type { Attempt } from '../wire/visits.ts';

/**
 * Seconds after which a launch URL has expired: its lifetime (OLTR: Limits) and one second for the request.
 */
const afterLaunchUrl = 11;

type Dependencies = {
  /** The launch URL that the browser opened, with the code verifier. */
  readonly url: string;
  readonly action: Action;
  readonly payload: object;
  /** Requests another launch for the same patient with a new identifier, and resolves with its URL. */
  readonly requestAnother: () => Promise<string>;
  readonly open: (address: string) => Promise<unknown>;
  readonly client: PmsClient;
  /** Creates the client of a practice system without the right to launch. */
  readonly clientWithoutRight: () => PmsClient;
};

/** Returns the requests that a visitor can repeat, or send with a deliberate error, after an OLTR launch. */
export function launchAttempts(dependencies: Dependencies): Map<string, Attempt> {
  const { url, action, payload, requestAnother, open, client, clientWithoutRight } = dependencies;
  const attempts = new Map<string, Attempt>([
    [
      'again',
      {
        label: 'Play it again: 410',
        explanation: 'Sends the launch URL of this launch a second time.',
        async send() {
          await open(url);
          return undefined;
        },
      },
    ],
    [
      'verifier',
      {
        label: 'Wrong verifier: 401',
        explanation: 'Requests another launch URL, and opens it with the verifier of somebody else.',
        async send() {
          const another = new URL(await requestAnother());
          another.searchParams.set('codeVerifier', createPkcePair().codeVerifier);
          await open(another.href);
          return undefined;
        },
      },
    ],
    [
      'late',
      {
        label: 'After ten seconds: 401',
        explanation: `Requests another launch URL, and opens it ${afterLaunchUrl} seconds later.`,
        async send() {
          const another = await requestAnother();
          return { afterSeconds: afterLaunchUrl, send: async () => void (await open(another)) };
        },
      },
    ],
    [
      'identifier',
      {
        label: 'Same identifier: 409',
        explanation: 'Sends the payload of this launch a second time. A retry cannot create a second order.',
        send: () => refused(client.requestLaunch(payload)),
      },
    ],
    [
      'right',
      {
        label: 'A client without the right: 403',
        explanation: 'Sends the same payload as a client that is registered without the right to launch.',
        send: () => refused(clientWithoutRight().requestLaunch(payload)),
      },
    ],
  ]);
  // Other actions may use the identifier of an existing order again, so the answer would not be 409.
  if (action !== 'OrderTest') attempts.delete('identifier');
  return attempts;
}

async function refused(request: Promise<unknown>): Promise<undefined> {
  await request.catch((error: unknown) => {
    if (!(error instanceof LaunchRefused)) throw error;
  });
}
