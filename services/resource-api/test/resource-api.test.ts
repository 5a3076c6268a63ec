import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { createTestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import { aContext, startResourceApi } from './running-resource-api.ts';

let api: Awaited<ReturnType<typeof startResourceApi>>;
beforeAll(async () => {
  api = await startResourceApi();
});
afterAll(() => api.stop());

const seconds = () => Math.floor(api.clock.now() / 1000);

/** Returns the last event of one launch, after all pending events have been published. */
async function eventOf(correlationId: string) {
  await api.bus.idle();
  return api.published.findLast(({ correlationid }) => correlationid === correlationId);
}

/**
 * Checks the status, the challenge (RFC 6750 section 3) and the body, which has the members of an OAuth
 * error. Returns the description of the error.
 */
async function expectRefusal(response: Response, status: number, error: string): Promise<string> {
  expect(response.status).toBe(status);
  expect(response.headers.get('www-authenticate')).toContain(`Bearer error="${error}"`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const body: Record<string, string> = JSON.parse(await response.text());
  expect(body).toEqual({
    error,
    error_description: expect.any(String),
    correlation_id: response.headers.get('x-correlation-id'),
  });
  return body.error_description ?? '';
}

describe('a protected resource', () => {
  it('contains the user, organisation and permissions of the launch: /resource/me', async () => {
    const response = await api.get('me');
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.json()).toEqual({
      user: aContext.user,
      organisation: aContext.organisation,
      authorizations: ['agmt-agmt.read', 'clinical-cr.read'],
    });
  });

  it('names the host application that launched: /resource/me', async () => {
    const launched_by = { iss: 'https://launch.example/idp/north/v2.0', client_id: 'host' };
    const response = await api.get('me', { token: await api.sign({ launched_by }) });
    expect(await response.json()).toMatchObject({ launched_by });
  });

  it('contains the unchanged patient of the launch: /resource/patient', async () => {
    const response = await api.get('patient');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(await response.json()).toEqual(aContext.patient);
  });

  it('causes an audit event under the GUID of the launch, without patient data', async () => {
    const [sid, jti] = [randomUUID(), randomUUID()];
    const response = await api.get('patient', { token: await api.sign({ sid, jti }) });
    expect(response.headers.get('x-correlation-id')).toBe(sid);
    expect(await eventOf(sid)).toMatchObject({
      type: 'resource.read.v1',
      source: '/resource-api',
      data: { issuer: api.issuer, clientId: 'partner', tokenId: jti, resource: 'patient' },
    });
    const kept = JSON.stringify(api.published) + api.lines.join();
    expect(kept).not.toMatch(/Súilleabháin|Cathal|9434765870|Okonkwo/);
  });

  it('answers HEAD without a body, and POST with 405', async () => {
    const head = await api.get('me', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await api.get('me', { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('may be read by a page of any origin, and so may refusals (WHATWG Fetch, CORS protocol)', async () => {
    const preflight = await fetch(`${api.url}/resource/patient`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://partner.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    for (const token of [undefined, null]) {
      const { headers } = await api.get('patient', token === undefined ? {} : { token });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it('exists only at its exact path', async () => {
    for (const name of ['Me', 'me/', 'patients', '']) expect((await api.get(name)).status).toBe(404);
  });

  it('requires the token in the Authorization header (RFC 6750 section 5.3)', async () => {
    const token = await api.sign();
    const response = await fetch(`${api.url}/resource/me?access_token=${token}`);
    expect(response.status).toBe(401);
  });
});

describe('the UserInfo endpoint (OpenID Connect Core 1.0 section 5.3)', () => {
  const profile = {
    userERN: 'ern:demo:user:7f3',
    title: 'Dr',
    firstName: 'Adaeze',
    familyName: 'Okonkwo',
    orgERN: 'ern:demo:org:1',
    orgName: 'Harbour Surgery',
    cdb: '4711',
    ods: 'B82017',
    name: 'Dr Adaeze Okonkwo',
    given_name: 'Adaeze',
    family_name: 'Okonkwo',
  };
  const email = { email: 'a.okonkwo@example.org' };

  it.each([
    ['openid', {}],
    ['openid profile', profile],
    ['openid email', email],
    ['email launch profile openid', { ...profile, ...email }],
  ])('returns the claims of the scope "%s", by GET and by POST', async (scope, claims) => {
    for (const method of ['GET', 'POST']) {
      const response = await api.get('userinfo', { method, token: await api.sign({ scope }) });
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await response.json()).toEqual({ sub: 'ern:demo:user:7f3', ...claims });
    }
  });

  it('omits empty claims, and returns nothing about the patient', async () => {
    const ids = { jti: randomUUID(), sid: randomUUID() };
    const user = { ...aContext.user, title: '', firstName: '' };
    const launch_context = api.sealContext(ids, { context: { ...aContext, user } });
    const token = await api.sign({ ...ids, launch_context, scope: 'openid profile email' });
    const { title: _title, firstName: _first, given_name: _given, ...rest } = profile;
    const answer = await (await api.get('userinfo', { token })).json();
    expect(answer).toEqual({ sub: 'ern:demo:user:7f3', ...rest, ...email, name: 'Okonkwo' });
  });

  it('requires the scope openid, and the token in the Authorization header', async () => {
    const token = await api.sign({ scope: 'launch profile email resource.read' });
    const refused = await api.get('userinfo', { token });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="openid"',
    ]);
    const body = new URLSearchParams({ access_token: await api.sign() });
    expect((await fetch(`${api.url}/resource/userinfo`, { method: 'POST', body })).status).toBe(401);
  });

  it('refuses a forged token, a token for another audience, and the token of a revoked launch', async () => {
    const sid = randomUUID();
    await api.chains.revoke(sid, { forSeconds: 3600, events: [] });
    const key = await createTestKey('test-key');
    const tokens = [api.sign({}, { key }), api.sign({ aud: 'https://other.example' }), api.sign({ sid })];
    for (const token of await Promise.all(tokens))
      for (const method of ['GET', 'POST'])
        expect((await api.get('userinfo', { method, token })).status).toBe(401);
  });

  it('returns the user of the token, whichever desktop realm issued the token', async () => {
    const ids = { jti: randomUUID(), sid: randomUUID(), iss: api.issuer.replace('demo', 'south') };
    const user = { ...aContext.user, userERN: 'ern:south:user:1' };
    const launch_context = api.sealContext(ids, { context: { ...aContext, user } });
    const answer = await api.get('userinfo', { token: await api.sign({ ...ids, launch_context }) });
    expect(await answer.json()).toEqual({ sub: 'ern:south:user:1' });
  });

  it('is read by a third-party client (oauth4webapi), which compares sub', async () => {
    const server = { issuer: api.issuer, userinfo_endpoint: `${api.url}/resource/userinfo` };
    const client = { client_id: 'partner' };
    const insecure = { [oauth.allowInsecureRequests]: true };
    const token = await api.sign({ scope: 'openid profile' });
    const response = await oauth.userInfoRequest(server, client, token, insecure);
    const claims = await oauth.processUserInfoResponse(server, client, 'ern:demo:user:7f3', response);
    expect(claims.name).toBe('Dr Adaeze Okonkwo');
  });
});

describe('a request without a valid access token', () => {
  // See RFC 6750 section 3.1 and RFC 9449 section 7.1.
  it('is answered with 401 and the accepted schemes, without an error code, if it has no token', async () => {
    const response = await api.get('me', { token: null });
    expect(response.status).toBe(401);
    const metadata = `resource_metadata="${api.url}/.well-known/oauth-protected-resource/resource/me"`;
    const challenges = response.headers.get('www-authenticate') ?? '';
    expect(challenges.replace(/"[A-Z][\w ]+"/, '"…"')).toBe(`Bearer ${metadata}, DPoP algs="…", ${metadata}`);
  });

  const ids = { jti: randomUUID(), sid: randomUUID() };
  const claimFaults: [string, () => Record<string, unknown>][] = [
    ['that expired longer ago than the clock tolerance', () => ({ exp: seconds() - 11 })],
    ['that is not valid yet', () => ({ nbf: seconds() + 61 })],
    ['for another audience', () => ({ aud: 'api://another' })],
    ['of another issuer', () => ({ iss: 'https://idp.example' })],
    ['of a partner that is not registered', () => ({ client_id: 'stranger' })],
    ['without a launch', () => ({ sid: undefined })],
    ['whose launch is not a GUID', () => ({ sid: 'launch-1' })],
    ['without an id', () => ({ jti: undefined })],
    ['without a scope', () => ({ scope: undefined })],
    ['without the permissions of the user', () => ({ authorizations: undefined })],
    ['without the context of the launch', () => ({ launch_context: undefined })],
    [
      'whose context was sealed for another purpose',
      () => ({ launch_context: api.sealer.seal('ticket', aContext, []) }),
    ],
    [
      'whose context was sealed for another token of the launch',
      () => ({ ...ids, launch_context: api.sealContext({ ...ids, jti: randomUUID() }) }),
    ],
    [
      'whose context was sealed for another launch',
      () => ({ ...ids, launch_context: api.sealContext({ ...ids, sid: randomUUID() }) }),
    ],
    [
      'whose context was sealed with an unknown key',
      () => {
        const stranger = createSealer([{ id: 'k1', key: randomBytes(32) }]);
        return { ...ids, launch_context: api.sealContext(ids, { by: stranger }) };
      },
    ],
    [
      'whose context is incomplete',
      () => ({ ...ids, launch_context: api.sealContext(ids, { context: { user: aContext.user } }) }),
    ],
  ];
  it.each(claimFaults)('is answered with 401 for a token %s', async (_fault, claims) => {
    await expectRefusal(await api.get('patient', { token: await api.sign(claims()) }), 401, 'invalid_token');
  });

  it('is answered with 401 for a token of another type, such as an ID token', async () => {
    const token = await api.sign({}, { header: { typ: 'JWT' } });
    await expectRefusal(await api.get('me', { token }), 401, 'invalid_token');
  });

  it('is answered with 401 for a token signed with another key', async () => {
    const token = await api.sign({}, { key: await createTestKey('test-key') });
    await expectRefusal(await api.get('me', { token }), 401, 'invalid_token');
  });

  it('causes an audit event with the client and the resource', async () => {
    const token = await api.sign({ launch_context: undefined });
    const response = await api.get('patient', { token });
    expect(await eventOf(response.headers.get('x-correlation-id') ?? '')).toMatchObject({
      type: 'resource.refused.v1',
      data: { status: 401, reason: 'invalid_token', clientId: 'partner', resource: 'patient' },
    });
  });
});

describe('permissions', () => {
  it('do not depend on the scopes of the token', async () => {
    const token = await api.sign({ scope: 'openid' });
    const statuses = [await api.get('me', { token }), await api.get('patient', { token })];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('without clinical-cr.read cause 403 for /resource/patient, and the response names the missing permission', async () => {
    const sid = randomUUID();
    const token = await api.sign({ sid, authorizations: ['clinical-cr.write', 'clinical-cr.reader'] });
    const description = await expectRefusal(await api.get('patient', { token }), 403, 'insufficient_scope');
    expect(description).toContain('clinical-cr.read');
    expect(await eventOf(sid)).toMatchObject({
      type: 'resource.refused.v1',
      data: { status: 403, reason: 'insufficient_scope', clientId: 'partner', resource: 'patient' },
    });
    expect((await api.get('me', { token })).status).toBe(200);
  });
});

describe('the description of the API', () => {
  it('is public and lists the statuses of each answer and the required members', async () => {
    const response = await fetch(`${api.url}/resource/openapi.json`);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    const source = await response.text();
    const { paths, components } = JSON.parse(source);
    const resources = Object.entries<{ get: { responses: object } }>(paths).filter(
      ([path]) => !path.startsWith('/.well-known/'),
    );
    const described = resources.map(([path, { get }]) => [path, Object.keys(get.responses)]);
    expect(described).toEqual([
      ['/resource/me', ['200', '401', '429', '500', '503']],
      ['/resource/patient', ['200', '401', '403', '429', '500', '503']],
      ['/resource/userinfo', ['200', '401', '403', '429', '500', '503']],
      ...['Patient/{id}', 'Practitioner/{id}', 'Organization/{id}', 'Patient'].map((below) => [
        `/idp/{segment1}/{segment2}/v2.0/${below}`,
        ['200', '401', '403', '404', '429', '500', '503'],
      ]),
      ['/idp/{segment1}/{segment2}/v2.0/metadata', ['200', '404', '429', '500', '503']],
    ]);
    for (const [name, resource] of [
      ['Me', 'me'],
      ['Patient', 'patient'],
    ] as const) {
      const answer = (await (await api.get(resource)).json()) as object;
      expect(components.schemas[name].required.toSorted()).toEqual(Object.keys(answer).toSorted());
    }
  });
});
