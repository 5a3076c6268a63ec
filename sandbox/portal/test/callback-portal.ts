import { createHash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { callbackSecretPurpose } from '@clinical-launch/contracts/registry';
import { createPurposeSealer, demoSealingKey } from '@clinical-launch/crypto/sealing-purposes';
import { signatureHeaders } from '@clinical-launch/crypto/webhook-signature';
import { listen } from '@clinical-launch/http/server';
import { createPmsClient, verifyCallback } from '@clinical-launch/pms-client';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { expectPage, orderTests } from '@clinical-launch/simulators/play/order-tests';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { sandboxClient, startPortal } from './running-portal.ts';

export type Report = {
  readonly address?: string;
  readonly callbacks: readonly {
    readonly id: string;
    readonly kind: string;
    readonly attempts: readonly {
      readonly at: string;
      readonly receiver: string;
      readonly result: number | string;
    }[];
  }[];
};

type Received = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };
type Visit = Awaited<ReturnType<Awaited<ReturnType<typeof startPortal>>['signIn']>>;

const secretOf = (clientId: string) =>
  `whsec_${createHash('sha256').update(`callback of ${clientId}`).digest('base64')}`;

const withCallback = (clientId: string) => {
  const sealer = createPurposeSealer('callback', [demoSealingKey]);
  const sealed = sealer.seal(callbackSecretPurpose, secretOf(clientId), []);
  const url = `\${PUBLIC_URL}/developers/callbacks/${clientId}`;
  return sandboxClient(clientId, { callback: { url, secrets: [{ sealed }] } });
};

/**
 * Starts a platform with the sandbox clients `vendor-a` and `vendor-b`, whose callbacks go to the portal, and
 * `vendor-c` without a callback.
 */
export async function startCallbackPortal(environment: Readonly<Record<string, string>> = {}) {
  const clients = [withCallback('vendor-a'), withCallback('vendor-b'), sandboxClient('vendor-c')];
  const portal = await startPortal(clients, environment);
  const now = () => portal.clock.now();
  return {
    ...portal,

    /** Posts a callback as the platform does, unless the test changes its signature. */
    deliver(
      clientId = 'vendor-a',
      { secret = secretOf(clientId), at = now(), id = randomUUID() as string, body = '{"é": 1}' } = {},
    ) {
      const signature = signatureHeaders({ id, now: at, body, secrets: [secret] });
      const headers = { 'Content-Type': 'application/json', ...signature };
      return fetch(`${portal.url}/developers/callbacks/${clientId}`, { method: 'POST', headers, body });
    },

    /** Submits an order in a launch of a client. Returns the order document. */
    async order(clientId: string): Promise<string> {
      const pms = createPmsClient({
        baseUrl: portal.url,
        tokenUrl: `${portal.url}/idp/demo/oauth2/v2.0/token`,
        scope: 'api://clinical-launch/.default',
        clientId,
        clientSecret: clientId,
        now,
      });
      const identifier = [{ system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9990000018' }];
      const { url } = await pms.requestLaunch(aServiceRequest({ patient: { identifier } }));
      const browser = new Browser();
      return (await orderTests(browser, expectPage(await browser.open(url), 'Choose tests'))).document;
    },

    /** Verifies a received callback with the reference code for vendors. @throws CallbackRefused */
    verify: (received: Received) => verifyCallback({ ...received, secrets: [secretOf('vendor-a')], now }),
  };
}

/** Returns the callbacks that a developer sees, as JSON. */
export async function reportOf(visit: Visit): Promise<Report> {
  const answer = await visit('/developers/callbacks', { headers: { Accept: 'application/json' } });
  return JSON.parse(await answer.text());
}

/** Sends a form of the page. */
export const send = (visit: Visit, fields: Readonly<Record<string, string>>, path = '') =>
  visit(`/developers/callbacks${path}`, { method: 'POST', body: new URLSearchParams(fields) });

/** Posts JSON to the page. */
export const post = (visit: Visit, body: object) =>
  visit('/developers/callbacks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body),
  });

/** Starts the system of a developer. `answers` decides the status, and whether there is an answer at all. */
export async function startReceiver(answers: (received: Received) => number | undefined = () => 204) {
  const received: Received[] = [];
  const server = await listen(
    async (request, response) => {
      const one = { headers: request.headers, body: await buffer(request) };
      received.push(one);
      const status = answers(one);
      if (status !== undefined) response.writeHead(status).end();
    },
    { port: 0, host: '127.0.0.1' },
  );
  return { url: `http://127.0.0.1:${server.port}/callbacks`, received, stop: () => server.stop() };
}
