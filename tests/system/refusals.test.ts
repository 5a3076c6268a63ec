import { createPkcePair } from '@clinical-launch/pms-client';
import { launchBody } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient } from '@clinical-launch/simulators/records';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from './running-platform.ts';

const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
});
afterAll(() => platform.stop());

async function post(clientId: string, payload: object = aServiceRequest()): Promise<Response> {
  return fetch(`${platform.url}/AccessApi/RequestLaunchUrl`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await platform.tokenOf(clientId)}`,
      'Content-Type': 'application/json',
      'Code-Challenge': codeChallenge,
    },
    body: JSON.stringify(payload),
  });
}

describe('the clients of the demo registry', () => {
  it.each([
    ['pms-demo', 200],
    ['pms-other', 200],
    ['pms-noscope', 403],
    ['host-demo', 403],
    ['audit-demo', 403],
  ])('include %s, whose launch request is answered %i', async (clientId, status) => {
    expect((await post(clientId)).status).toBe(status);
  });

  it('include pms-limited, which may send five requests per second', async () => {
    const token = await platform.tokenOf('pms-limited');
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await fetch(`${platform.url}/AccessApi/RequestLaunchUrl`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}` },
        });
        return response.status;
      }),
    );
    // Without a body, each request within the limit is answered 415.
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array(5).fill(415), ...Array(5).fill(429)]);
  });

  it('include sandbox-pms, which may send synthetic patients only', async () => {
    const identifier = (value: string) => [{ system: 'https://fhir.nhs.uk/Id/nhs-number', value }];
    const postFor = (value: string) =>
      post('sandbox-pms', aServiceRequest({ patient: { identifier: identifier(value) } }));
    expect((await postFor('9990000018')).status).toBe(200);
    expect((await postFor('9434765919')).status).toBe(400);
  });

  it('include a PMS that may not read the audit trail', async () => {
    const response = await fetch(`${platform.url}/audit/events?correlationId=${crypto.randomUUID()}`, {
      headers: { Authorization: `Bearer ${await platform.tokenOf('pms-demo')}` },
    });
    expect([response.status, await response.text()]).toEqual([403, '']);
  });
});

describe('the access token of a desktop launch', () => {
  const address = () => `${platform.url}/idp/demo/desktop`;

  /** Returns the access token of a partner application after the minimal flow. */
  async function partnerToken(): Promise<string> {
    const [clientId, redirectUri] = ['partner-demo', `${platform.url}/demo/partner/callback`];
    const wanted = launchBody({ clientId, patient: getPatient(null), authorizations: ['clinical-cr.read'] });
    const issued = await fetch(`${address()}/launches`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${await platform.tokenOf('host-demo')}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(wanted),
    });
    const { launch } = (await issued.json()) as { launch: string };
    const { codeVerifier, codeChallenge } = createPkcePair();
    const shared = { client_id: clientId, redirect_uri: redirectUri, scope: 'launch resource.read' };
    const redirect = await fetch(`${address()}/oauth2/v2.0/authorize`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({
        ...shared,
        response_type: 'code',
        response_mode: 'query',
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
        state: 'state',
        launch,
      }),
    });
    const code = new URL(redirect.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const answer = await fetch(`${address()}/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...shared,
        grant_type: 'authorization_code',
        code,
        code_verifier: codeVerifier,
      }),
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    return access_token;
  }

  it('is accepted only by the resource API: the other APIs require a client’s own token', async () => {
    const headers = { Authorization: `Bearer ${await partnerToken()}` };
    const statusOf = async (path: string, method = 'GET') =>
      (await fetch(platform.url + path, { method, headers })).status;
    expect({
      patient: await statusOf('/resource/patient'),
      launchUrl: await statusOf('/AccessApi/RequestLaunchUrl', 'POST'),
      audit: await statusOf(`/audit/events?correlationId=${crypto.randomUUID()}`),
      launches: await statusOf('/idp/demo/desktop/launches', 'POST'),
    }).toEqual({ patient: 200, launchUrl: 401, audit: 401, launches: 401 });
  });

  it.each(['pms-demo', 'host-demo', 'audit-demo'])(
    'cannot be replaced by a token of the client %s',
    async (clientId) => {
      const response = await fetch(`${platform.url}/resource/me`, {
        headers: { Authorization: `Bearer ${await platform.tokenOf(clientId)}` },
      });
      expect(response.status).toBe(401);
    },
  );
});

describe('the correlation id of a 400 answer', () => {
  it('finds the refusal in the log and the audit trail, both without patient data', async () => {
    const patient = {
      name: [{ use: 'usual', family: 'Quillfeather', given: ['Ottoline'] }],
      address: [{ use: 'home', type: 'physical', line: ['4 Limpet Row'], postalCode: 'ZZ99 1XX' }],
      birthDate: '1958-02-30',
    };
    const response = await post('pms-demo', aServiceRequest({ patient }));
    const { correlationId } = (await response.json()) as { correlationId: string };
    expect([response.status, correlationId]).toEqual([400, response.headers.get('x-correlation-id')]);

    const token = await platform.tokenOf('audit-demo');
    const story = await platform.storyOf(correlationId, ['launch.url.refused.v1'], token);
    expect(story).toMatchObject([
      {
        data: {
          status: 400,
          reason: 'invalid_payload',
          clientId: 'pms-demo',
          paths: ['contained[1].birthDate'],
        },
      },
    ]);
    const logged = platform.lines.filter((line) => line.includes(correlationId));
    expect(logged.join()).toMatch(/invalid_payload.*contained\[1\]\.birthDate/);
    const everything = JSON.stringify(story) + platform.lines.join();
    expect(everything).not.toMatch(/Quillfeather|Ottoline|Limpet|ZZ99|9434765919|1958-02-30/);
  });
});
