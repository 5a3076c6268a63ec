import { type IncomingMessage, request } from 'node:http';
import { createPmsClient } from '@clinical-launch/pms-client';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startPortal, syntheticRequest } from './running-portal.ts';

type Recorded = {
  readonly line: string;
  readonly request: string;
  readonly answer: { readonly status: number };
  readonly fault?: string;
  readonly code?: string;
  readonly findings: readonly string[];
};

let portal: Awaited<ReturnType<typeof startPortal>>;
let asA: Awaited<ReturnType<typeof portal.signIn>>;
let asB: typeof asA;
beforeAll(async () => {
  portal = await startPortal();
  [asA, asB] = [await portal.signIn('vendor-a'), await portal.signIn('vendor-b')];
});
afterAll(() => portal.stop());

const baseOf = (clientId: string) => `${portal.url}/developers/api/${clientId}`;

const clientOf = (clientId: string) =>
  createPmsClient({
    baseUrl: baseOf(clientId),
    tokenUrl: `${baseOf(clientId)}/idp/demo/oauth2/v2.0/token`,
    clientId,
    clientSecret: clientId,
    scope: 'api://clinical-launch/.default',
  });

type Lists = Readonly<Record<'requests' | 'others', readonly Recorded[]>> & { readonly faults: unknown };

const listsOf = async (visit: typeof asA): Promise<Lists> => {
  const answer = await visit('/developers/requests', { headers: { Accept: 'application/json' } });
  return JSON.parse(await answer.text());
};
const listOf = async (visit: typeof asA) => (await listsOf(visit)).requests;

const breakNext = (visit: typeof asA, fault: object) =>
  visit('/developers/faults', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(fault),
  });

const requestLaunch = (clientId: string, headers: Readonly<Record<string, string>>, body = '{}') =>
  fetch(`${baseOf(clientId)}/AccessApi/RequestLaunchUrl`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });

describe('the address of a sandbox client', () => {
  it('requests a launch URL below the same address, which opens once', async () => {
    const { url } = await clientOf('vendor-a').requestLaunch(syntheticRequest());
    expect(url.startsWith(`${baseOf('vendor-a')}/secureLaunch?launchToken=`)).toBe(true);
    expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([200, 410]);
    const recorded = (await listOf(asA)).slice(0, 4).map(({ line, answer }) => [line, answer.status]);
    expect(recorded).toEqual([
      ['GET /secureLaunch', 410],
      ['GET /secureLaunch', 200],
      ['POST /AccessApi/RequestLaunchUrl', 200],
      ['POST /idp/demo/oauth2/v2.0/token', 200],
    ]);
  });

  it('answers 404 for a client that is not a sandbox client', async () => {
    expect((await requestLaunch('pms-demo', {})).status).toBe(404);
    expect((await requestLaunch('nobody', {})).status).toBe(404);
  });

  it('answers 403 to the token of another client, and does not record the request', async () => {
    const before = await listOf(asA);
    const token = await portal.tokenOf('vendor-b');
    expect((await requestLaunch('vendor-a', { Authorization: `Bearer ${token}` })).status).toBe(403);
    expect(await listOf(asA)).toEqual(before);
  });

  it('does not send the cookie of the portal to the platform', async () => {
    await asA('/developers/api/vendor-a/secureLaunch');
    const [newest] = (await listsOf(asA)).others;
    expect(newest?.line).toBe('GET /secureLaunch');
    expect(newest?.request).not.toMatch(/^Cookie/m);
  });

  it.each([
    ['//example.com/', 404],
    ['/../requests', 404],
    ['/%2e%2e/requests', 404],
    ['/developers/api/vendor-a/secureLaunch', 508],
    ['/x/../developers/api/vendor-a/secureLaunch', 508],
    ['//developers/api/vendor-a/secureLaunch', 508],
    ['/developers/callbacks/vendor-a', 508],
  ])('forwards a request for %s to no other host and not to the portal', async (path, status) => {
    const { hostname, port } = new URL(portal.url);
    const raw = `/developers/api/vendor-a${path}`;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ hostname, port, path: raw }, resolve).once('error', reject).end();
    });
    answer.resume();
    expect([answer.statusCode, answer.headers['content-type'] ?? '']).toEqual([
      status,
      expect.not.stringContaining('html'),
    ]);
  });
});

describe('the inspector', () => {
  it('answers 401 without a session', async () => {
    expect((await fetch(`${portal.url}/developers/requests`)).status).toBe(401);
  });

  it('shows no request of another client', async () => {
    await clientOf('vendor-b').requestLaunch(syntheticRequest());
    const ofB = await listOf(asB);
    expect(ofB.length).toBeGreaterThan(0);
    const ofA = JSON.stringify(await listOf(asA));
    for (const one of ofB) expect(ofA).not.toContain(JSON.stringify(one));
  });

  it('stores neither secrets, nor patient data, nor other values of a request', async () => {
    const token = await portal.tokenOf('vendor-a');
    const planted = '<script>Okonkwo</script>';
    const request = { ...syntheticRequest(), [planted]: planted };
    await requestLaunch(
      'vendor-a',
      { Authorization: `Bearer ${token}`, 'X-Patient': 'Okonkwo', 'Content-Type': 'application/json' },
      JSON.stringify(request),
    );
    for (const path of ['', '/idp', '/idp/demo/launches', '/resource/Patient'])
      await fetch(`${baseOf('vendor-a')}${path}/Okonkwo?Okonkwo=Okonkwo`);
    await fetch(`${baseOf('vendor-a')}/idp/Okonkwo/oauth2/v2.0/token`, { method: 'POST' });
    await fetch(`${baseOf('vendor-a')}/secureLaunch?launchToken=Okonkwo-token`);
    const shown = await (await asA('/developers/requests')).text();
    expect(shown).toContain('X-Patient: (not shown)');
    const leaked = ['Okonkwo', '9990000018', token, '<script>O'].filter((text) => shown.includes(text));
    expect(leaked).toEqual([]);
  });

  it('shows the code of a refusal and every fault of a payload', async () => {
    const token = await portal.tokenOf('vendor-a');
    const verified = { Authorization: `Bearer ${token}`, 'Code-Challenge': 'a'.repeat(43) };
    const { status } = await requestLaunch('vendor-a', verified, '{"resourceType":"ServiceRequest"}');
    const [newest] = await listOf(asA);
    expect([status, newest?.answer.status]).toEqual([400, 400]);
    expect(newest?.findings.some((text) => text.startsWith('contained '))).toBe(true);
  });

  it('names the endpoint that checks a payload', async () => {
    await fetch(`${baseOf('vendor-a')}/AccessApi/Validate`, { method: 'POST', body: '{}' });
    expect((await listsOf(asA)).others[0]?.line).toBe('POST /AccessApi/Validate');
  });

  it('shows the requirement of the guide that a request breaks', async () => {
    await requestLaunch('vendor-a', { 'Code-Challenge': 'short' });
    const [newest] = (await listsOf(asA)).others;
    expect(newest?.findings).toContain('Code-Challenge is missing or has another form');
  });
});

/** Requests a token at the address of a client. Returns the status of the answer. */
const requestToken = async (address: string, clientId: string, secret = clientId) => {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: secret,
    scope: 'api://clinical-launch/.default',
  });
  const { status } = await fetch(`${baseOf(address)}/idp/demo/oauth2/v2.0/token`, { method: 'POST', body });
  return status;
};

/** Sends an invalid request with a token of the client, which is answered 400. */
const requestAs = async (clientId: string) =>
  requestLaunch(clientId, { Authorization: `Bearer ${await portal.tokenOf(clientId)}` });

describe('a fault on demand', () => {
  it.each(['401', '403', '409', '410', '429', '500', '503'])(
    'answers the next request with %s',
    async (fault) => {
      expect((await breakNext(asA, { fault, endpoint: 'launch-url' })).status).toBe(200);
      expect((await requestAs('vendor-a')).status).toBe(Number(fault));
      const [newest] = await listOf(asA);
      expect([newest?.answer.status, newest?.fault]).toEqual([Number(fault), fault]);
      expect((await requestAs('vendor-a')).status).toBe(400);
    },
  );

  it('cuts the connection', async () => {
    await breakNext(asA, { fault: 'cut' });
    await expect(requestAs('vendor-a')).rejects.toThrow('fetch failed');
  });

  it('applies to the request with the header Clinical-Launch-Fault', async () => {
    const authorization = { Authorization: `Bearer ${await portal.tokenOf('vendor-a')}` };
    const named = { ...authorization, 'Clinical-Launch-Fault': '503' };
    expect((await requestLaunch('vendor-a', named)).status).toBe(503);
  });

  it('never applies to another client, or outside the address of a sandbox client', async () => {
    await breakNext(asB, { fault: '500' });
    expect((await requestAs('vendor-a')).status).toBe(400);
    const direct = await fetch(`${portal.url}/AccessApi/RequestLaunchUrl`, {
      method: 'POST',
      headers: { 'Clinical-Launch-Fault': '500' },
    });
    expect(direct.status).toBe(401);
    expect((await requestAs('vendor-b')).status).toBe(500);
  });

  it('can be requested with the form of the page', async () => {
    const body = new URLSearchParams({ fault: '409', endpoint: '' });
    const answer = await asA('/developers/faults', { method: 'POST', body });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/developers/requests']);
    expect(await (await asA('/developers/requests')).text()).toContain('409 for any request');
    expect((await requestAs('vendor-a')).status).toBe(409);
  });

  it('remains when another client requests many faults', async () => {
    const fault = { fault: '503', endpoint: 'revoke' };
    await breakNext(asB, fault);
    for (let count = 0; count < 101; count += 1) await breakNext(asA, fault);
    const answer = await asB('/developers/requests', { headers: { Accept: 'application/json' } });
    expect(await answer.json()).toMatchObject({ faults: [fault] });
  });

  it('applies to a token request only when the platform accepted its credentials', async () => {
    await breakNext(asA, { fault: '503', endpoint: 'token' });
    expect(await requestToken('vendor-a', 'vendor-a', 'wrong')).toBe(401);
    expect(await requestToken('vendor-a', 'vendor-b')).toBe(200);
    expect(await requestToken('vendor-a', 'vendor-a')).toBe(503);
    expect(await requestToken('vendor-a', 'vendor-a')).toBe(200);
  });

  it('answers 400 to an unknown fault', async () => {
    expect((await breakNext(asA, { fault: '418' })).status).toBe(400);
  });
});

const idp = '/idp/demo/desktop/oauth2/v2.0';
const form = (fields: Readonly<Record<string, string>>) => ({
  method: 'POST',
  body: new URLSearchParams(fields),
});

const credentialsOfB = {
  grant_type: 'client_credentials',
  client_id: 'vendor-b',
  client_secret: 'vendor-b',
  scope: 'api://clinical-launch/.default',
};
const unsigned = (claims: object) =>
  `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;

describe('a stranger at the address of a sandbox client', () => {
  beforeEach(() => portal.clock.advance({ seconds: 2 }));

  it.each<[what: string, path: string, request: RequestInit]>([
    ['the client id and a secret in an address', `${idp}/authorize?client_id=vendor-a&access_token=x`, {}],
    [
      'a launch token in the Referer',
      `${idp}/authorize?client_id=vendor-a`,
      { headers: { Referer: `http://x/secureLaunch?launchToken=${'a'.repeat(43)}` } },
    ],
    ['the client id in a pushed request', `${idp}/par`, form({ client_id: 'vendor-a', launch: 'x' })],
    [
      'the client id with a wrong secret',
      `${idp}/token`,
      form({ client_id: 'vendor-a', client_secret: 'x' }),
    ],
    ['the credentials of another client', '/idp/demo/oauth2/v2.0/token', form(credentialsOfB)],
    [
      'a token that the client did not sign',
      '/AccessApi/Validate',
      { method: 'POST', headers: { Authorization: `Bearer ${unsigned({ client_id: 'vendor-a' })}` } },
    ],
    ['the name of a fault', '/secureLaunch', { headers: { 'Clinical-Launch-Fault': '500' } }],
  ])('changes neither its list nor its faults with %s', async (_what, path, request) => {
    await breakNext(asA, { fault: '500', times: 1000 });
    const before = await listsOf(asA);
    const { status } = await fetch(baseOf('vendor-a') + path, { redirect: 'manual', ...request });
    expect(status).not.toBe(500);
    const after = await listsOf(asA);
    expect([after.requests, after.faults]).toEqual([before.requests, before.faults]);
    expect(after.others[0]?.answer.status).toBe(status);
  });

  it('with an expired token of the client is a stranger', async () => {
    const authorization = { Authorization: `Bearer ${await portal.tokenOf('vendor-b')}` };
    portal.clock.advance({ seconds: 3620 });
    const visit = await portal.signIn('vendor-b');
    const before = await listOf(visit);
    expect((await requestLaunch('vendor-b', authorization)).status).toBe(401);
    expect(await listOf(visit)).toEqual(before);
  });

  it('with a revoked token of the client is a stranger', async () => {
    const token = await portal.tokenOf('vendor-b');
    const credentials = { client_id: 'vendor-b', client_secret: 'vendor-b' };
    await fetch(`${portal.url}/idp/demo/oauth2/v2.0/revoke`, form({ token, ...credentials }));
    const authorization = { Authorization: `Bearer ${token}` };
    // The platform reads its list of revoked tokens every two seconds.
    await until(async () => {
      portal.clock.advance({ seconds: 1 });
      return (await requestLaunch('vendor-b', authorization)).status === 401;
    });
    const visit = await portal.signIn('vendor-b');
    const { requests, others } = await listsOf(visit);
    expect(others[0]?.answer.status).toBe(401);
    expect(requests.filter(({ code }) => code === 'invalid_token')).toEqual([]);
  });

  it('uses up only the limit of its own address, and a list of 20 requests', async () => {
    const authorization = { Authorization: `Bearer ${await portal.tokenOf('vendor-b')}` };
    const visit = await portal.signIn('vendor-b');
    await requestLaunch('vendor-b', authorization);
    const before = await listOf(visit);
    const statuses = [];
    for (let count = 0; count < 60; count += 1)
      statuses.push((await fetch(`${baseOf('vendor-b')}/secureLaunch`)).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    const after = await listsOf(visit);
    expect([after.requests, after.others.length]).toEqual([before, 20]);
    expect((await requestLaunch('vendor-b', authorization)).status).toBe(400);
  });

  it('is answered 413 to a body of more than 256 KiB', async () => {
    const large = await requestLaunch('vendor-a', {}, ' '.repeat(256 * 1024 + 1));
    expect(large.status).toBe(413);
  });
});
