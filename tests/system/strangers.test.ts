import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from './running-platform.ts';

const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const limit = 10;

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  const environment = { TRUSTED_PROXIES: '1', REFUSALS_PER_ADDRESS: `${limit}` };
  // The clock is fixed, so no window of counted refusals ends.
  platform = await startPlatformForTest({ clock: new TestClock(), environment, logLevel: 'error' });
});
afterAll(() => platform.stop());

type Sent = {
  readonly from: string;
  readonly form?: Record<string, string>;
  readonly json?: object;
  readonly token?: string;
};

async function send(path: string, { from, form, json, token }: Sent) {
  const body = form === undefined ? json && JSON.stringify(json) : new URLSearchParams(form);
  const response = await fetch(platform.publicUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: {
      'X-Forwarded-For': from,
      ...(json === undefined ? {} : { 'Content-Type': 'application/json', 'Code-Challenge': codeChallenge }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    ...withoutUndefined({ body }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.text(),
  };
}

let addresses = 0;
const nextAddress = () => `192.0.2.${(addresses += 1)}`;

const guid = 'd3b07384-d9a0-4c9b-8f2e-000000000001';
const tokenPath = '/idp/demo/oauth2/v2.0/token';
const grant = { grant_type: 'client_credentials', scope: 'api://clinical-launch/.default' };
const credentials = { ...grant, client_id: 'pms-demo', client_secret: 'pms-demo-secret' };

describe('the limit of refusals per address', () => {
  it.each([
    ['a token request', 401, tokenPath, { form: grant }],
    [
      'a token request in a desktop realm',
      400,
      '/idp/demo/desktop/oauth2/v2.0/token',
      { form: { grant_type: 'refresh_token', refresh_token: 'x' } },
    ],
    ['an authorization request', 400, '/idp/demo/desktop/oauth2/v2.0/authorize?client_id=partner-demo', {}],
    ['the launch request of a host', 401, '/idp/demo/desktop/launches', { json: {} }],
    ['the launch request of a practice system', 401, '/AccessApi/RequestLaunchUrl', { json: {} }],
    ['the opening of a launch URL', 401, '/secureLaunch?launchToken=a&codeVerifier=b', {}],
    ['a page of the application', 401, `/oltr/${guid}/`, {}],
    ['an order document', 401, `/orders/${guid}/notepad`, {}],
    ['the audit trail', 401, `/audit/events?correlationId=${guid}`, {}],
    ['a protected resource', 401, '/resource/patient', {}],
    ['an unknown path', 404, '/wp-admin', {}],
  ])(
    'applies to unauthenticated requests, and causes 429 with Retry-After: %s',
    async (_name, refused, path, request) => {
      const from = nextAddress();
      const sent = { ...request, from };
      const answers = await Promise.all(Array.from({ length: limit + 5 }, () => send(path, sent)));
      const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
      expect(statuses).toEqual([...Array(limit).fill(refused), ...Array(5).fill(429)]);
      for (const { status, retryAfter } of answers) expect(status === 429).toBe(Number(retryAfter) > 0);
      // Another address has its own limit.
      expect((await send(path, { ...request, from: nextAddress() })).status).toBe(refused);
    },
  );

  it('does not apply to 2,000 launches of a client behind the same address', async () => {
    const from = '203.0.113.9';
    const flood = await Promise.all(Array.from({ length: 50 }, () => send('/secureLaunch', { from })));
    expect(flood.filter(({ status }) => status === 429)).toHaveLength(50 - limit);
    const granted = await send(tokenPath, { from, form: credentials });
    expect(granted.status).toBe(200);
    const { access_token: token }: { access_token: string } = JSON.parse(granted.body);
    const statuses = new Map<number, number>();
    for (let batch = 0; batch < 40; batch += 1) {
      const launched = Array.from({ length: 50 }, () =>
        send('/AccessApi/RequestLaunchUrl', { from, token, json: aServiceRequest() }),
      );
      for (const { status } of await Promise.all(launched))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([[200, 2000]]);
    // An authenticated client's invalid request is not limited either.
    expect((await send('/AccessApi/RequestLaunchUrl', { from, token, json: {} })).status).toBe(400);
  });
});
