import { randomBytes } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage/storage';
import { makeDpopProof, thumbprintOf } from '@clinical-launch/testing/dpop-proof';
import { MachineClock, TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createTestKey, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as openid from 'openid-client';
import {
  aPartner,
  authorizeFields,
  aVerifier,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
  tokenFields,
} from './running-desktop.ts';
import { assertionFor, assertionType } from './running-hosts.ts';
import { record } from './running-identity-provider.ts';

// Third-party clients use the machine's clock.
const clock = new MachineClock();
const at = 'pushing/desktop';
// openid-client derives the redirect URI from the callback and removes its query.
const standardRedirect = 'https://standard.example/callback';

let storage: Storage;
let running: RunningDesktop;
let key: TestKey;
beforeAll(async () => {
  storage = await openTestStorage();
  key = await createTestKey('partner-key');
  const standard = { profile: 'standard', redirectUris: [standardRedirect] };
  const partners = [
    aPartner({ clientId: 'only-pushes', requirePushedAuthorizationRequests: true, ...standard }),
    aPartner({ clientId: 'has-keys', jwks: { keys: [key.publicJwk] } }),
    aPartner({ clientId: 'limited', requestsPerSecond: 1 }),
  ];
  const realms = [...desktopRealms(), { realm: at, clients: [], desktop: { partners } }];
  running = await runDesktop({ clock, storage, realms });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const push = (
  fields: Fields | [string, string][],
  of = realm,
  headers: Fields = {},
  { idp }: Pick<RunningDesktop, 'idp'> = running,
) => idp.postForm(`/${of}/oauth2/v2.0/par`, fields, headers);

/** Returns a valid request and the verifier for its code. */
async function aRequest(clientId = 'partner', of = realm) {
  const { verifier, challenge } = aVerifier();
  const launch = await running.launchFor({ client_id: clientId }, of);
  return { verifier, launch, fields: { ...authorizeFields({ launch, challenge }), client_id: clientId } };
}

async function requestUriOf(response: Response): Promise<string> {
  if (response.status !== 201) throw new Error(`par: ${response.status} ${await response.text()}`);
  return String(record(await response.json()).request_uri);
}

/** Pushes a valid request. Returns the request, and the form fields with its `request_uri`. */
async function pushed(clientId = 'partner', of = realm) {
  const request = await aRequest(clientId, of);
  const request_uri = await requestUriOf(await push(request.fields, of));
  return { ...request, reference: { client_id: clientId, request_uri } };
}

const codeOf = (response: Response) =>
  new URL(String(response.headers.get('location'))).searchParams.get('code');
const lastRefusal = () => record(running.published.at(-1)?.data);

describe('a pushed authorization request (RFC 9126)', () => {
  it('is answered with 201 and a request_uri that is valid for a minute', async () => {
    const response = await push((await aRequest()).fields);
    expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(await response.json()).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{80,}$/),
      expires_in: 60,
    });
  });

  it('is authorized by a POST or GET with client_id and request_uri', async () => {
    const [one, other] = [await pushed(), await pushed()];
    const posted = await running.postAuthorize(one.reference);
    expect(posted.headers.get('location')).toMatch(/&state=a%20state&iss=/);
    const fields = tokenFields({ code: String(codeOf(posted)), verifier: one.verifier });
    expect((await running.postToken(fields)).status).toBe(200);
    const got = await running.getAuthorize(new URLSearchParams(other.reference).toString());
    expect(got.status).toBe(302);
  });

  it('is answered with the correlation id of its launch', async () => {
    const { fields } = await aRequest();
    const response = await push(fields);
    await running.postAuthorize({ client_id: 'partner', request_uri: await requestUriOf(response) });
    const code = running.published.findLast(({ type }) => type === 'desktop.code.issued.v1');
    expect(response.headers.get('x-correlation-id')).toBe(code?.correlationid);
  });

  it('works with openid-client, which finds the endpoint by discovery', async () => {
    const clientId = 'only-pushes';
    const client = await openid.discovery(new URL(running.issuer(at)), clientId, undefined, openid.None(), {
      execute: [openid.allowInsecureRequests],
    });
    expect(client.serverMetadata()).toMatchObject({ require_pushed_authorization_requests: false });
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const url = await openid.buildAuthorizationUrlWithPAR(client, {
      redirect_uri: standardRedirect,
      scope: 'openid launch',
      state: 's',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      launch: await running.launchFor({ client_id: clientId }, at),
    });
    expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    const { headers } = await fetch(url, { redirect: 'manual' });
    const callback = new URL(String(headers.get('location')));
    const tokens = await openid.authorizationCodeGrant(client, callback, {
      pkceCodeVerifier,
      expectedState: 's',
      idTokenExpected: true,
    });
    expect(tokens.claims()?.aud).toBe(clientId);
  });

  it('overrides all parameters that are sent with its request_uri', async () => {
    const { reference } = await pushed();
    const attack = { ...reference, redirect_uri: 'https://attacker.example/', state: 'x', scope: 'openid' };
    const { headers } = await running.postAuthorize(attack);
    expect(headers.get('location')).toMatch(/^https:\/\/partner\.example\/auth\?.*&state=a%20state&/);
  });

  it('is authorized by only one of several concurrent requests', async () => {
    const { reference } = await pushed();
    const answers = await Promise.all(Array.from({ length: 20 }, () => running.postAuthorize(reference)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
  });
});

describe('a request_uri', () => {
  const deadRequest = refused('invalid_request_uri');

  it('is refused after its use', async () => {
    const { reference } = await pushed();
    expect((await running.postAuthorize(reference)).status).toBe(302);
    expect(await refusalOf(await running.postAuthorize(reference))).toEqual(deadRequest);
    expect(lastRefusal()).toMatchObject({ step: 'authorize', reason: 'used_request_uri' });
  });

  it('is refused if another application sends it, and stays usable', async () => {
    const { reference } = await pushed();
    const other = { ...reference, client_id: 'partner-standard' };
    expect(await refusalOf(await running.postAuthorize(other))).toEqual(deadRequest);
    expect(lastRefusal()).toMatchObject({ reason: 'request_uri_of_other_client' });
    expect((await running.postAuthorize(reference)).status).toBe(302);
  });

  it('is refused in another realm with the same client_id', async () => {
    const { reference } = await pushed();
    const elsewhere = await running.postAuthorize(reference, 'south/desktop');
    expect(await refusalOf(elsewhere)).toEqual(deadRequest);
    expect((await running.postAuthorize(reference)).status).toBe(302);
  });

  it('is refused after its expiry', async () => {
    const testClock = new TestClock(Date.now());
    const other = await runDesktop({ clock: testClock, storage });
    const fields = authorizeFields({
      launch: await other.launchFor(),
      challenge: aVerifier().challenge,
    });
    const request_uri = await requestUriOf(await push(fields, realm, {}, other));
    testClock.advance({ seconds: 60 });
    const response = await other.postAuthorize({ client_id: 'partner', request_uri });
    await other.stop();
    expect(await refusalOf(response)).toEqual(deadRequest);
  });

  it('is refused after the host has ended the launch', async () => {
    const { launch, reference } = await pushed();
    const authorization = `Bearer ${await running.hostToken()}`;
    await running.idp.get(`/${realm}/launches/${launch}`, { method: 'DELETE', headers: { authorization } });
    expect(await refusalOf(await running.postAuthorize(reference))).toEqual(deadRequest);
  });

  it.each([
    'https://partner.example/request.jwt',
    'urn:ietf:params:oauth:request_uri:',
    `urn:ietf:params:oauth:request_uri:${'A'.repeat(89)}`,
    `urn:ietf:params:oauth:request_uri:${randomBytes(500).toString('base64url')}`,
  ])('is refused if this service did not issue it: %s', async (request_uri) => {
    const response = await running.postAuthorize({ client_id: 'partner', request_uri });
    expect(await refusalOf(response)).toEqual(deadRequest);
  });

  it('is refused if the parameter is sent twice, and stays usable', async () => {
    const { reference } = await pushed();
    const twice: [string, string][] = [...Object.entries(reference), ['request_uri', reference.request_uri]];
    expect(await refusalOf(await running.postAuthorize(twice))).toEqual(refused('invalid_request'));
    expect((await running.postAuthorize(reference)).status).toBe(302);
  });

  it('is refused without a client_id', async () => {
    const { request_uri } = (await pushed()).reference;
    expect(await refusalOf(await running.postAuthorize({ request_uri }))).toEqual(refused('invalid_request'));
  });
});

describe('a push', () => {
  it.each([
    ['redirect_uri', 'https://attacker.example/', 'invalid_request'],
    ['response_type', 'token', 'unsupported_response_type'],
    ['scope', 'openid admin', 'invalid_scope'],
    ['code_challenge_method', 'plain', 'invalid_request'],
    ['state', '', 'invalid_request'],
    ['request_uri', 'urn:ietf:params:oauth:request_uri:a', 'invalid_request'],
  ])('whose %s is %j is refused with the error %s', async (name, value, error) => {
    const { fields } = await aRequest();
    expect(await refusalOf(await push({ ...fields, [name]: value }))).toEqual(refused(error));
    expect(lastRefusal()).toMatchObject({
      realm,
      clientId: 'partner',
      step: 'push',
      status: 400,
      reason: 'faulty_parameters',
      paths: [name],
    });
  });

  it('of more than 4,096 bytes is refused', async () => {
    const { fields } = await aRequest();
    const used = Buffer.byteLength(JSON.stringify({ ...fields, nonce: '' }));
    const large = await push({ ...fields, nonce: 'n'.repeat(4097 - used) });
    expect(await refusalOf(large)).toEqual(refused('invalid_request', 413));
    expect(lastRefusal()).toMatchObject({ step: 'push', reason: 'request_too_large' });
    expect((await push({ ...fields, nonce: 'n'.repeat(4096 - used) })).status).toBe(201);
  });

  it('is refused without a valid launch identifier of its partner, so that strangers store nothing', async () => {
    const [used, others, { fields }] = [
      await aRequest(),
      await aRequest('partner-standard'),
      await aRequest(),
    ];
    await running.postAuthorize(used.fields);
    for (const launch of [used.launch, others.launch, 'A'.repeat(89)])
      expect(await refusalOf(await push({ ...fields, launch }))).toEqual(refused('invalid_request'));
  });

  it('with an unknown client_id or unregistered credentials is refused', async () => {
    const { fields } = await aRequest();
    const stranger = await push({ ...fields, client_id: 'nobody' });
    expect(await refusalOf(stranger)).toEqual(refused('invalid_client'));
    const withSecret = await push({ ...fields, client_secret: 'guessed' });
    expect(await refusalOf(withSecret)).toEqual(refused('invalid_client'));
    expect(lastRefusal()).toMatchObject({ step: 'push', reason: 'partner_with_secret' });
  });

  it('is refused if it is not a POST, is not a form, or is too large', async () => {
    const url = `${running.idp.base}/${realm}/oauth2/v2.0/par`;
    expect((await fetch(url)).status).toBe(405);
    const json = await fetch(url, { method: 'POST', body: '{}' });
    expect(await refusalOf(json)).toEqual(refused('invalid_request'));
    const large = await push({ state: 'x'.repeat(17_000) });
    expect(await refusalOf(large)).toEqual(refused('invalid_request', 413));
  });

  it('is refused after ten pushes of the same launch within a minute', async () => {
    const testClock = new TestClock(Date.now());
    const other = await runDesktop({ clock: testClock, storage });
    const fields = authorizeFields({ launch: await other.launchFor(), challenge: aVerifier().challenge });
    const pushOnce = () => push(fields, realm, {}, other);
    for (let round = 0; round < 10; round += 1) {
      expect((await pushOnce()).status).toBe(201);
      testClock.advance({ seconds: 5 });
    }
    const response = await pushOnce();
    expect(await refusalOf(response)).toEqual(refused('too_many_requests', 429));
    expect(response.headers.get('retry-after')).toBe('10');
    testClock.advance({ seconds: 10 });
    const statuses = [(await pushOnce()).status, (await pushOnce()).status];
    await other.stop();
    expect(statuses).toEqual([201, 429]);
  });

  it('is refused if its partner has reached its rate limit', async () => {
    const [one, other] = [await aRequest('limited', at), await aRequest('limited', at)];
    const answers = await Promise.all([one, other].map(({ fields }) => push(fields, at)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 429]));
  });
});

describe('the state of an authorization request', () => {
  it.each([
    ['accepted with 2,048 letters', 'a'.repeat(2048), [201, 302]],
    ['refused with 2,049 letters', 'a'.repeat(2049), [400, 400]],
    ['refused with 1,025 letters of two bytes each', 'é'.repeat(1025), [400, 400]],
  ])('is %s, whether the request is pushed or not', async (_which, state, expected) => {
    const { fields } = await aRequest();
    const pushing = await push({ ...fields, state });
    const plain = await running.postAuthorize({ ...fields, state });
    expect([pushing.status, plain.status]).toEqual(expected);
  });
});

describe('a partner that must push its requests', () => {
  it('cannot send a plain authorization request; the refused request leaves the launch identifier usable', async () => {
    const { launch, fields } = await aRequest('only-pushes', at);
    const plain = { ...fields, redirect_uri: standardRedirect };
    expect(await refusalOf(await running.postAuthorize(plain, at))).toEqual(refused('invalid_request'));
    expect(lastRefusal()).toMatchObject({ step: 'authorize', reason: 'unpushed_request' });
    const request_uri = await requestUriOf(await push({ ...plain, launch }, at));
    const { status } = await running.postAuthorize({ client_id: 'only-pushes', request_uri }, at);
    expect(status).toBe(302);
  });
});

describe('a partner with registered keys', () => {
  it('must push each request with a new assertion, whose audience may be the push endpoint', async () => {
    const { fields } = await aRequest('has-keys', at);
    expect(await refusalOf(await push(fields, at))).toEqual(refused('invalid_client', 401));
    const audience = `${running.url}/idp/${at}/oauth2/v2.0/par`;
    const client_assertion = await assertionFor({
      key,
      clientId: 'has-keys',
      audience,
      clock,
      claims: {},
      header: {},
    });
    const authenticated = { ...fields, client_assertion, client_assertion_type: assertionType };
    expect((await push(authenticated, at)).status).toBe(201);
    expect(await refusalOf(await push(authenticated, at))).toEqual(refused('invalid_client', 401));
  });
});

describe('a push with a DPoP proof (RFC 9449 section 10.1)', () => {
  const proofBy = (by: TestKey) =>
    makeDpopProof({
      key: by,
      clock,
      method: 'POST',
      url: `${running.url}/idp/${realm}/oauth2/v2.0/par`,
    });

  it('binds the code to the key of the proof', async () => {
    const { fields, verifier } = await aRequest();
    const response = await push(fields, realm, { DPoP: await proofBy(key) });
    const reference = { client_id: 'partner', request_uri: await requestUriOf(response) };
    const code = String(codeOf(await running.postAuthorize(reference)));
    const plain = await running.postToken(tokenFields({ code, verifier }));
    expect(await refusalOf(plain)).toEqual(refused('invalid_grant'));
    expect(lastRefusal()).toMatchObject({ reason: 'ticket_of_other_key' });
  });

  it('is refused if dpop_jkt is the thumbprint of another key, or if the proof is invalid', async () => {
    const { fields } = await aRequest();
    const other = await createTestKey('another');
    const both = { ...fields, dpop_jkt: await thumbprintOf(other) };
    for (const [form, DPoP] of [
      [both, await proofBy(key)],
      [fields, 'nonsense'],
    ] as const)
      expect(await refusalOf(await push(form, realm, { DPoP }))).toEqual(refused('invalid_dpop_proof'));
    const agreed = { ...fields, dpop_jkt: await thumbprintOf(key) };
    expect((await push(agreed, realm, { DPoP: await proofBy(key) })).status).toBe(201);
  });
});
