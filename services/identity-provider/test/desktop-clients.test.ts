import { listen } from '@clinical-launch/http/server';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import {
  aPartner,
  desktopRealms,
  type RunningDesktop,
  realm,
  runDesktop,
  tokensOf,
} from './running-desktop.ts';
import { record } from './running-identity-provider.ts';

// Starts at the machine's time, because third-party clients use the machine's clock.
const clock = new TestClock(Date.now());
const clientId = 'partner-standard';
const scope = 'openid launch resource.read';
// openid-client derives the redirect URI from the callback and removes its query.
const redirectUri = 'https://standard.example/callback';
const algorithms = ['RS256', 'ES256', 'EdDSA'] as const;
const realmOf = (algorithm: string) => `${algorithm.toLowerCase()}/desktop`;

let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  const partners = [aPartner({ clientId, profile: 'standard', redirectUris: [redirectUri] })];
  const signed = algorithms.map((signingAlgorithm) => ({
    realm: realmOf(signingAlgorithm),
    signingAlgorithm,
    clients: [],
    desktop: { partners, sendsIssuer: signingAlgorithm === 'ES256' },
  }));
  running = await runDesktop({ clock, storage, realms: [...desktopRealms(), ...signed] });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

/** Opens the authorization URL as a browser does, and returns the redirect to the partner. */
async function callbackOf(authorizationUrl: URL): Promise<URL> {
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) throw new Error(await response.text());
  return new URL(location);
}

describe.each(algorithms)('a realm that signs with %s', (algorithm) => {
  const at = realmOf(algorithm);
  const discover = () =>
    openid.discovery(
      new URL(running.issuer(at)),
      clientId,
      { id_token_signed_response_alg: algorithm },
      openid.None(),
      { execute: [openid.allowInsecureRequests] },
    );

  it('works with openid-client: discovery, authorization code with PKCE, refresh and revocation', async () => {
    const client = await discover();
    const codeVerifier = openid.randomPKCECodeVerifier();
    const [state, nonce] = [openid.randomState(), openid.randomNonce()];
    const callback = await callbackOf(
      openid.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        launch: await running.launchFor({ client_id: clientId }, at),
      }),
    );
    const tokens = await openid.authorizationCodeGrant(client, callback, {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    expect(tokens.claims()).toMatchObject({ sub: 'ern:user:4711', aud: clientId, nonce });
    const refreshed = await openid.refreshTokenGrant(client, String(tokens.refresh_token));
    expect(refreshed.claims()?.sub).toBe('ern:user:4711');
    expect(await running.introspect(refreshed.access_token, at)).toMatchObject({ active: true });
    await openid.tokenRevocation(client, String(refreshed.refresh_token));
    expect(await running.introspect(refreshed.access_token, at)).toEqual({ active: false });
    await expect(openid.refreshTokenGrant(client, String(refreshed.refresh_token))).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  it('works without a nonce with oauth4webapi, which checks at_hash and the signature', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(running.issuer(at));
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, insecure),
    );
    const client: oauth.Client = { client_id: clientId, id_token_signed_response_alg: algorithm };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(String(server.authorization_endpoint));
    url.search = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      launch: await running.launchFor({ client_id: clientId }, at),
    }).toString();
    const parameters = oauth.validateAuthResponse(server, client, await callbackOf(url), state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      redirectUri,
      verifier,
      insecure,
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: oauth.expectNoNonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, insecure);
    const keys = createRemoteJWKSet(new URL(String(server.jwks_uri)));
    const { payload } = await jwtVerify(String(answer.id_token), keys, {
      issuer: issuer.href,
      audience: clientId,
    });
    expect(payload.userERN).toBe('ern:user:4711');
  });

  it('answers a used code with an error that openid-client can read', async () => {
    const client = await discover();
    const codeVerifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const callback = await callbackOf(
      openid.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        launch: await running.launchFor({ client_id: clientId }, at),
      }),
    );
    const checks = { pkceCodeVerifier: codeVerifier, expectedState: state };
    await openid.authorizationCodeGrant(client, callback, checks);
    await expect(openid.authorizationCodeGrant(client, callback, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });
});

describe('a native application (RFC 8252)', () => {
  it('receives its code at its own port of the loopback address', async () => {
    const answered: string[] = [];
    const server = await listen(
      ({ url = '' }, response) => {
        answered.push(url);
        response.end('You can close this window');
      },
      { port: 0, host: '127.0.0.1' },
    );
    const callback = `http://127.0.0.1:${server.port}/callback`;
    const client = await openid.discovery(
      new URL(running.issuer(realm)),
      'partner-native',
      undefined,
      openid.None(),
      { execute: [openid.allowInsecureRequests] },
    );
    const codeVerifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(client, {
      redirect_uri: callback,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
      launch: await running.launchFor({ client_id: 'partner-native' }),
    });
    await (await fetch(url)).text();
    await server.stop();
    const tokens = await openid.authorizationCodeGrant(client, new URL(String(answered[0]), callback), {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
    });
    expect(tokens.claims()?.aud).toBe('partner-native');
  });
});

describe('the discovery documents of a desktop realm', () => {
  const wellKnown = async (name: string, at = realm) =>
    record(await (await running.idp.get(`/${at}/v2.0/.well-known/${name}`)).json());
  const endpoint = (name: string) => `${running.url}/idp/${realm}/oauth2/v2.0/${name}`;

  it('list exactly the endpoints and features of the realm', async () => {
    expect(await wellKnown('openid-configuration')).toEqual({
      issuer: running.issuer(realm),
      authorization_endpoint: endpoint('authorize'),
      token_endpoint: endpoint('token'),
      userinfo_endpoint: `${running.url}/resource/userinfo`,
      pushed_authorization_request_endpoint: endpoint('par'),
      require_pushed_authorization_requests: false,
      revocation_endpoint: endpoint('revoke'),
      introspection_endpoint: endpoint('introspect'),
      jwks_uri: `${running.url}/idp/${realm}/discovery/v2.0/keys`,
      grant_types_supported: ['authorization_code', 'refresh_token'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'RS256', 'EdDSA']),
      scopes_supported: ['openid', 'profile', 'email', 'offline_access', 'launch', 'resource.read'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      introspection_endpoint_auth_methods_supported: ['Bearer'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      acr_values_supported: ['urn:clinical-launch:acr:launched-by-host', 'AAL1', 'AAL2', 'AAL3'],
      claim_types_supported: ['normal'],
      claims_supported: expect.arrayContaining(['authorizationDetails', 'userERN', 'ods']),
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
    const south = await wellKnown('openid-configuration', 'south/desktop');
    expect(south.authorization_response_iss_parameter_supported).toBe(false);
  });

  it('list exactly the claims of an ID token with `nonce` and `amr`, and of the UserInfo response', async () => {
    const { claims_supported } = await wellKnown('openid-configuration');
    const launch = await running.launchFor({ amr: ['pwd'] });
    const answer = await running.postToken(await running.codeFor({ nonce: 'n' }, { launch }));
    const { idToken } = tokensOf(await answer.json());
    const claims = Object.keys(JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()));
    const ofUserInfo = ['name', 'given_name', 'family_name'];
    expect([...claims, ...ofUserInfo].toSorted()).toEqual((claims_supported as string[]).toSorted());
  });

  it('include a SMART configuration with exactly the endpoints and features of the realm', async () => {
    expect(await wellKnown('smart-configuration')).toEqual({
      issuer: running.issuer(realm),
      jwks_uri: `${running.url}/idp/${realm}/discovery/v2.0/keys`,
      authorization_endpoint: endpoint('authorize'),
      token_endpoint: endpoint('token'),
      pushed_authorization_request_endpoint: endpoint('par'),
      require_pushed_authorization_requests: false,
      revocation_endpoint: endpoint('revoke'),
      revocation_endpoint_auth_methods_supported: ['none'],
      introspection_endpoint: endpoint('introspect'),
      introspection_endpoint_auth_methods_supported: ['Bearer'],
      token_endpoint_auth_methods_supported: ['none'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access', 'launch', 'resource.read'],
      code_challenge_methods_supported: ['S256'],
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'RS256', 'EdDSA']),
      capabilities: [
        'launch-ehr',
        'client-public',
        'authorize-post',
        'context-ehr-patient',
        'context-banner',
        'permission-offline',
      ],
    });
    const response = await running.idp.get('/north/v2.0/.well-known/smart-configuration');
    expect(response.status).toBe(404);
  });

  it('list only endpoints that answer', async () => {
    // The resource API answers the UserInfo endpoint.
    const { userinfo_endpoint: _userInfo, ...document } = await wellKnown('openid-configuration');
    const named = Object.entries(document).filter(([name]) => /_endpoint$|_uri$/.test(name));
    expect(named).toHaveLength(6);
    for (const [name, address] of named) {
      const response = await fetch(String(address), { method: name === 'jwks_uri' ? 'GET' : 'POST' });
      expect({ name, found: response.status !== 404 && response.status !== 405 }).toEqual({
        name,
        found: true,
      });
    }
  });
});

describe('a page of another origin', () => {
  const origin = 'https://app.partner.example';
  const paths = ['oauth2/v2.0/token', 'oauth2/v2.0/revoke', 'discovery/v2.0/keys'];
  const documents = ['v2.0/.well-known/openid-configuration', 'v2.0/.well-known/smart-configuration'];

  it.each([...paths, ...documents])('may read %s by CORS without credentials', async (path) => {
    const method = path.startsWith('oauth2') ? 'POST' : 'GET';
    const response = await running.idp.get(`/${realm}/${path}`, { method, headers: { origin } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    const asked = await running.idp.get(`/${realm}/${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-methods')).toBe(method);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Content-Type');
  });

  it.each(['token', 'revoke', 'introspect'])(
    'may not read %s by CORS in a realm without partner applications, whose clients have secrets',
    async (name) => {
      for (const method of ['POST', 'OPTIONS']) {
        const headers = { origin, 'access-control-request-method': 'POST' };
        const response = await running.idp.get(`/north/oauth2/v2.0/${name}`, { method, headers });
        expect(response.headers.has('access-control-allow-origin')).toBe(false);
        expect(response.headers.has('access-control-allow-methods')).toBe(false);
      }
    },
  );

  it.each(['oauth2/v2.0/authorize', 'launches'])('may not read %s by CORS', async (path) => {
    const response = await running.idp.get(`/${realm}/${path}`, { method: 'POST', headers: { origin } });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });
});
