import { createPublicKey } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage/storage';
import { MachineClock, TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createTestKey, startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import {
  aPartner,
  desktopRealms,
  type RunningDesktop,
  realm,
  refusalOf,
  runDesktop,
} from './running-desktop.ts';
import { assertionFor, assertionType } from './running-hosts.ts';
import { aClient, basic, record, scope } from './running-identity-provider.ts';

// Third-party clients use the machine's clock, and the service refuses an assertion whose `iat` is later than
// its own clock.
const clock = new MachineClock();
const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
const insecure = { execute: [openid.allowInsecureRequests] };

let storage: Storage;
let running: RunningDesktop;
let keys: ReadonlyMap<string, TestKey>;
let key: TestKey;
let second: TestKey;
beforeAll(async () => {
  second = await createTestKey('second');
  storage = await openTestStorage();
  keys = new Map(
    await Promise.all(algorithms.map(async (alg) => [alg, await createTestKey(`key-${alg}`, alg)] as const)),
  );
  key = keyOf('ES256');
  const jwks = { keys: [...keys.values()].map(({ publicJwk }) => publicJwk) };
  const assured = {
    realm: 'assured',
    clients: [
      aClient({ clientId: 'by-key', secrets: [], jwks }),
      aClient({ clientId: 'by-both', jwks: { keys: [key.publicJwk] } }),
      aClient({ clientId: 'by-secret' }),
      aClient({ clientId: 'by-two', secrets: [], jwks: { keys: [key.publicJwk, second.publicJwk] } }),
    ],
  };
  const partners = [
    aPartner({ clientId: 'partner', profile: 'standard', jwks: { keys: [key.publicJwk] } }),
    aPartner({ clientId: 'public' }),
  ];
  const desktop = { realm: 'assured/desktop', clients: [], desktop: { partners } };
  running = await runDesktop({ clock, storage, realms: [...desktopRealms(), assured, desktop] });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

function keyOf(alg: string): TestKey {
  const found = keys.get(alg);
  if (found === undefined) throw new Error(alg);
  return found;
}

const issuer = () => running.issuer('assured');
const sign = (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  assertionFor({ clientId: 'by-key', audience: issuer(), key, clock, claims, header });
const assertionForm = (assertion: string, changes: Record<string, string> = {}) => ({
  grant_type: 'client_credentials',
  scope,
  client_assertion_type: assertionType,
  client_assertion: assertion,
  ...changes,
});
const post = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  running.idp.postForm('/assured/oauth2/v2.0/token', form, headers);
/** Starts a platform with a test clock, and a client that publishes its keys. */
async function startPublisher() {
  const testClock = new TestClock(Date.now());
  const publisher = await startTokenIssuer({ clock: testClock, audience: 'unused' });
  const client = aClient({ clientId: 'published', secrets: [], jwksUri: `${publisher.issuer}/keys` });
  const other = await runDesktop({
    clock: testClock,
    storage,
    realms: [{ realm: 'assured', clients: [client] }],
  });
  const parts = { clientId: 'published', audience: other.issuer('assured'), key: publisher.key };
  return {
    testClock,
    publisher,
    send: async () => {
      const assertion = await assertionFor({ ...parts, clock: testClock, claims: {}, header: {} });
      return other.idp.postForm('/assured/oauth2/v2.0/token', assertionForm(assertion));
    },
    stop: async () => {
      await other.stop();
      await publisher.stop();
    },
  };
}
const lastReason = () => record(running.published.at(-1)?.data).reason;

describe('a client with registered keys (RFC 7523)', () => {
  it.each(algorithms)(
    'gets a token with the library openid-client and an assertion signed with %s',
    async (alg) => {
      const { privateKey, kid } = keyOf(alg);
      const client = await openid.discovery(
        new URL(issuer()),
        'by-key',
        undefined,
        openid.PrivateKeyJwt({ key: privateKey, kid }),
        insecure,
      );
      const tokens = await openid.clientCredentialsGrant(client, { scope });
      expect(tokens.token_type).toBe('bearer');
      expect(running.published.at(-1)).toMatchObject({
        type: 'access.token.issued.v1',
        data: { realm: 'assured', clientId: 'by-key' },
      });
    },
  );

  it.each([
    ['the issuer', () => issuer()],
    ['the token endpoint', () => `${running.url}/idp/assured/oauth2/v2.0/token`],
    ['a list of only the issuer', () => [issuer()]],
  ])('may use %s as the audience of its assertion', async (_which, aud) => {
    expect((await post(assertionForm(await sign({ aud: aud() })))).status).toBe(200);
  });

  it('may use an assertion that is valid for ten minutes once', async () => {
    const form = assertionForm(await sign({ exp: Math.floor(clock.now() / 1000) + 600 }));
    expect((await post(form)).status).toBe(200);
    expect((await post(form)).status).toBe(401);
    expect(lastReason()).toBe('used_assertion');
  });

  it('may publish its keys at its jwksUri, and gets 503 while the keys cannot be fetched', async () => {
    const { send, testClock, publisher, stop } = await startPublisher();
    publisher.answer(false);
    const unavailable = await send();
    expect(await refusalOf(unavailable)).toMatchObject({ status: 503, error: 'temporarily_unavailable' });
    expect(unavailable.headers.get('retry-after')).toBe('2');
    publisher.answer(true);
    testClock.advance({ seconds: 2 });
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(200);
    expect(publisher.keyRequests()).toBe(1);
    await stop();
  });

  it('gets tokens until an hour after its keys were last fetched from its jwksUri', async () => {
    const { send, testClock, publisher, stop } = await startPublisher();
    expect((await send()).status).toBe(200);
    publisher.answer(false);
    for (const [seconds, status] of [
      [3599, 200],
      [1, 503],
    ] as const) {
      testClock.advance({ seconds });
      expect((await send()).status).toBe(status);
    }
    await stop();
  });

  it('may sign with either of two keys, without a key ID', async () => {
    const signed = [keyOf('ES256'), second].map((one) =>
      assertionFor({
        clientId: 'by-two',
        audience: issuer(),
        key: one,
        clock,
        claims: {},
        header: { kid: undefined },
      }),
    );
    for (const assertion of signed) expect((await post(assertionForm(await assertion))).status).toBe(200);
  });

  it('may have a secret and keys, but must not send both in one request', async () => {
    const assertion = () =>
      assertionFor({ clientId: 'by-both', audience: issuer(), key, clock, claims: {}, header: {} });
    const secret = 'a secret of this client';
    expect((await post(assertionForm(await assertion()))).status).toBe(200);
    const bySecret = { grant_type: 'client_credentials', scope, client_id: 'by-both', client_secret: secret };
    expect((await post(bySecret)).status).toBe(200);
    const both = await post(
      assertionForm(await assertion(), { client_id: 'by-both', client_secret: secret }),
    );
    expect(await refusalOf(both)).toMatchObject({ status: 400, error: 'invalid_request' });
    const header = await post(assertionForm(await assertion()), { authorization: basic('by-both', secret) });
    expect(await refusalOf(header)).toMatchObject({ status: 400, error: 'invalid_request' });
    expect(lastReason()).toBe('two_authentications');
  });

  it('gets only one token for an assertion, even with concurrent requests', async () => {
    const form = assertionForm(await sign());
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(form)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(19);
    expect(await refusalOf(await post(form))).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(lastReason()).toBe('used_assertion');
  });
});

describe('a client assertion', () => {
  const seconds = () => Math.floor(clock.now() / 1000);
  const cases: [string, string, () => Promise<string> | string][] = [
    ['without a signature', 'wrong_assertion', () => new UnsecuredJWT({ sub: 'by-key' }).encode()],
    ['that is not a JWT', 'unknown_client', () => 'nonsense'],
    ['of an unknown client', 'unknown_client', () => sign({ sub: 'nobody', iss: 'nobody' })],
    ['of a client without keys', 'wrong_assertion', () => sign({ sub: 'by-secret', iss: 'by-secret' })],
    [
      'signed with an unregistered key',
      'wrong_assertion',
      async () => {
        const other = await createTestKey(key.kid);
        return assertionFor({
          clientId: 'by-key',
          audience: issuer(),
          key: other,
          clock,
          claims: {},
          header: {},
        });
      },
    ],
    [
      'signed with the public key as a secret',
      'wrong_assertion',
      () => {
        const pem = createPublicKey({ key: { ...keyOf('RS256').publicJwk }, format: 'jwk' });
        return new SignJWT({ iss: 'by-key', sub: 'by-key', aud: issuer(), jti: 'x', exp: seconds() + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: 'key-RS256' })
          .sign(Buffer.from(pem.export({ type: 'spki', format: 'pem' })));
      },
    ],
    ['with the iss of another client', 'assertion_of_other_client', () => sign({ iss: 'by-both' })],
    ['for another realm', 'assertion_for_other_audience', () => sign({ aud: running.issuer('north') })],
    ['for two audiences', 'faulty_assertion', () => sign({ aud: [issuer(), 'https://other.example'] })],
    ['without an audience', 'faulty_assertion', () => sign({ aud: undefined })],
    ['without a jti', 'faulty_assertion', () => sign({ jti: undefined })],
    ['without an expiry', 'faulty_assertion', () => sign({ exp: undefined })],
    ['that has expired', 'assertion_out_of_time', () => sign({ exp: seconds() - 11 })],
    [
      'that is valid for more than ten minutes',
      'assertion_out_of_time',
      () => sign({ exp: seconds() + 700 }),
    ],
    ['issued in the future', 'assertion_out_of_time', () => sign({ iat: seconds() + 80 })],
    ['that is not valid yet', 'assertion_out_of_time', () => sign({ nbf: seconds() + 80 })],
    ['of another token type', 'faulty_assertion', () => sign({}, { typ: 'at+jwt' })],
  ];

  it.each(cases)('%s is refused with the audited reason %s', async (_which, reason, assertion) => {
    const response = await post(assertionForm(await assertion()));
    expect(await refusalOf(response)).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(lastReason()).toBe(reason);
  });

  it.each([
    ['exp', -70],
    ['exp', 1000],
    ['iat', 80],
    ['nbf', 80],
  ])('whose %s differs by %d seconds is refused with both times', async (name, difference) => {
    const sent = seconds() + difference;
    const { error_description: description } = record(
      await (await post(assertionForm(await sign({ [name]: sent })))).json(),
    );
    expect(description).toContain(`. ${name} ${new Date(sent * 1000).toISOString()}, server time `);
  });

  it('of a clock that is 50 seconds ahead is accepted', async () => {
    const ahead = seconds() + 50;
    expect((await post(assertionForm(await sign({ iat: ahead, nbf: ahead, exp: ahead + 60 })))).status).toBe(
      200,
    );
  });

  it('sent with the client_id of another client is refused', async () => {
    const response = await post(assertionForm(await sign(), { client_id: 'by-both' }));
    expect(await refusalOf(response)).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(lastReason()).toBe('assertion_of_other_client');
  });

  it('replayed within the clock tolerance after its expiry is refused', async () => {
    const testClock = new TestClock(Date.now());
    const jwks = { keys: [key.publicJwk] };
    const realms = [{ realm: 'assured', clients: [aClient({ clientId: 'by-key', secrets: [], jwks })] }];
    const other = await runDesktop({ clock: testClock, storage, realms });
    const audience = other.issuer('assured');
    const exp = Math.floor(testClock.now() / 1000) + 5;
    const assertion = await assertionFor({
      clientId: 'by-key',
      audience,
      key,
      clock: testClock,
      claims: { exp },
      header: {},
    });
    const send = () => other.idp.postForm('/assured/oauth2/v2.0/token', assertionForm(assertion));
    expect((await send()).status).toBe(200);
    testClock.advance({ seconds: 14 });
    expect((await send()).status).toBe(401);
    expect(record(other.published.at(-1)?.data).reason).toBe('used_assertion');
    await other.stop();
  });

  it('is refused unless client_assertion and client_assertion_type are sent together', async () => {
    const { client_assertion_type: _type, ...form } = assertionForm(await sign());
    expect(await refusalOf(await post(form))).toMatchObject({ status: 401, error: 'invalid_client' });
    const { client_assertion: _assertion, ...half } = assertionForm(await sign());
    expect(await refusalOf(await post(half))).toMatchObject({ status: 400, error: 'invalid_request' });
  });
});

describe('a partner application with registered keys', () => {
  const at = 'assured/desktop';
  const partnerAssertion = (): Promise<string> =>
    assertionFor({ clientId: 'partner', audience: running.issuer(at), key, clock, claims: {}, header: {} });
  const proven = async (form: Record<string, string>) => ({
    ...form,
    client_assertion_type: assertionType,
    client_assertion: await partnerAssertion(),
  });
  const refused = { status: 401, error: 'invalid_client' };

  it('gets, refreshes and revokes tokens with the library oauth4webapi and private_key_jwt', async () => {
    const options = { [oauth.allowInsecureRequests]: true };
    const discovered = await oauth.discoveryRequest(new URL(running.issuer(at)), options);
    const server = await oauth.processDiscoveryResponse(new URL(running.issuer(at)), discovered);
    expect(server.token_endpoint_auth_methods_supported).toEqual(['none', 'private_key_jwt']);
    expect(server.token_endpoint_auth_signing_alg_values_supported).toContain('ES256');
    expect(server.revocation_endpoint_auth_methods_supported).toEqual(['none', 'private_key_jwt']);
    const client = { client_id: 'partner' };
    const authentication = oauth.PrivateKeyJwt({ key: key.privateKey, kid: key.kid });
    const { redirect_uri, code, code_verifier } = await running.codeFor({}, { at });
    const callback = new URLSearchParams({ code, iss: running.issuer(at) });
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      oauth.validateAuthResponse(server, client, callback, oauth.expectNoState),
      redirect_uri,
      code_verifier,
      options,
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, client, response);
    const refreshed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      String(answer.refresh_token),
      options,
    );
    const next = await oauth.processRefreshTokenResponse(server, client, refreshed);
    const revoked = await oauth.revocationRequest(server, client, authentication, next.access_token, options);
    await oauth.processRevocationResponse(revoked);
    expect(await running.introspect(next.access_token, at)).toEqual({ active: false });
  });

  it('cannot be impersonated by someone who has its code and verifier but not its key', async () => {
    const { client_id: _known, ...form } = await running.codeFor({}, { at });
    expect(await refusalOf(await running.postToken({ ...form, client_id: 'partner' }, at))).toMatchObject(
      refused,
    );
    const won = await running.postToken(await proven(form), at);
    expect(won.status).toBe(200);
  });

  it('cannot be impersonated by someone who has its refresh token but not its key', async () => {
    const won = await running.postToken(await proven(await running.codeFor({}, { at })), at);
    const { refresh_token, access_token } = record(await won.json());
    for (const named of [{}, { client_id: 'partner' }]) {
      const response = await running.refresh(String(refresh_token), named, at);
      expect(await refusalOf(response)).toMatchObject(refused);
      const form = { token: String(refresh_token), ...named };
      const revoked = await running.idp.postForm(`/${at}/oauth2/v2.0/revoke`, form);
      expect(await refusalOf(revoked)).toMatchObject(refused);
    }
    expect(await running.introspect(String(access_token), at)).toMatchObject({ active: true });
  });

  it('does not affect public clients of its realm, or the discovery document of a realm without keys', async () => {
    const publicClient = await running.codeFor({ client_id: 'public' }, { at });
    expect((await running.postToken(publicClient, at)).status).toBe(200);
    const document = await running.idp.get(`/${realm}/v2.0/.well-known/openid-configuration`);
    const { token_endpoint_auth_methods_supported: methods } = record(await document.json());
    expect(methods).toEqual(['none']);
  });
});
