import { createHash } from 'node:crypto';
import { bindingOfTokenContext } from '@clinical-launch/crypto/sealing-purposes';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  aLaunch,
  aPatient,
  authorizeFields,
  aVerifier,
  desktopRealms,
  type RunningDesktop,
  realm,
  runDesktop,
  tokenFields,
  tokensOf,
} from './running-desktop.ts';
import { deploymentSealer, record, verifyToken } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  running = await runDesktop({ clock, storage });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

describe('a desktop launch', () => {
  it('exchanges the launch identifier for a code, and the code for the complete token response', async () => {
    const launch = await running.launchFor();
    const { verifier, challenge } = aVerifier();
    const authorized = await running.postAuthorize(authorizeFields({ launch, challenge }));
    expect(authorized.status).toBe(302);
    const location = String(authorized.headers.get('location'));
    expect(location).toMatch(
      /^https:\/\/partner\.example\/auth\?tenant=7&code=[\w-]{89}&state=a%20state&iss=[^&]+$/,
    );
    const code = String(new URL(location).searchParams.get('code'));
    const response = await running.postToken(tokenFields({ code, verifier }));
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(record(await response.json())).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^[\w-]{89}$/),
      id_token: expect.any(String),
      scope: 'openid launch resource.read',
      patient: expect.stringMatching(/^[0-9a-f]{32}$/),
      need_patient_banner: true,
      fhirContext: [
        { reference: expect.stringMatching(/^Organization\/[0-9a-f]{32}$/), type: 'Organization' },
      ],
    });
  });

  it('is audited under the correlation id of the request that issued its launch identifier', async () => {
    const asked = await running.postLaunch(aLaunch());
    const launchId = String(asked.headers.get('x-correlation-id'));
    const { launch } = record(await asked.json());
    const code = await running.codeFor({}, { launch: String(launch) });
    const exchanged = await running.postToken(code);
    expect(exchanged.headers.get('x-correlation-id')).toBe(launchId);
    const { refresh_token } = record(await exchanged.json());
    await running.refresh(String(refresh_token));
    const { user, organisation } = aLaunch();
    const name = [user.title, user.firstName, user.familyName].join(' ');
    const about = {
      user: { username: user.userERN, name },
      practice: { code: organisation.ods, name: organisation.orgName },
      patient: expect.stringMatching(/^[\w-]{43}$/),
    };
    const address = '127.0.0.1';
    expect(running.eventsOf(launchId).map(({ type, data }) => [type, data])).toEqual([
      [
        'desktop.launch.issued.v1',
        expect.objectContaining({ hostClientId: 'host', opens: 'host', ...about, address }),
      ],
      ['desktop.code.issued.v1', { realm, clientId: 'partner', ttlSeconds: 60, address }],
      ['desktop.tokens.issued.v1', expect.objectContaining({ grant: 'authorization_code' })],
      ['desktop.tokens.issued.v1', expect.objectContaining({ grant: 'refresh_token' })],
    ]);
  });

  it('leaves no patient data, ticket or token in logs and events', async () => {
    const launch = await running.launchFor();
    const fields = await running.codeFor({}, { launch });
    const answer = record(await (await running.postToken(fields)).json());
    await running.postToken(fields);
    const reported = [...running.lines, ...running.published.map((event) => JSON.stringify(event))].join(
      '\n',
    );
    expect(reported).toContain('desktop.tokens.issued.v1');
    const secrets = [launch, fields.code, fields.code_verifier, answer.access_token, answer.refresh_token];
    for (const hidden of [...secrets, 'Bhriain', '29-Feb-1960', '9434765919', '90210', 'sian@surgery']) {
      expect(reported).not.toContain(String(hidden));
    }
  });
});

describe('the ID token', () => {
  it('contains exactly the claims of the specification', async () => {
    const authTime = clock.now() / 1000;
    const launch = await running.launchFor();
    clock.advance({ seconds: 30 });
    const response = await running.postToken(await running.codeFor({ nonce: 'n-0S6_WzA2Mj' }, { launch }));
    const { id_token, access_token } = record(await response.json());
    const now = clock.now() / 1000;
    const { user, organisation, authorizations } = aLaunch();
    expect(decodeProtectedHeader(String(id_token))).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: expect.any(String),
    });
    expect(decodeJwt(String(id_token))).toEqual({
      exp: now + 3600,
      nbf: now - 10,
      iat: now,
      auth_time: authTime,
      ver: '1.0',
      iss: running.issuer(realm),
      sub: user.userERN,
      aud: 'partner',
      acr: 'urn:clinical-launch:acr:launched-by-host',
      nonce: 'n-0S6_WzA2Mj',
      at_hash: leftHalf('sha256', String(access_token)),
      ...user,
      ...organisation,
      authorizations,
      authorizationDetails: JSON.stringify([{ type: 'patient-context', version: '1.0.0', ...aPatient() }]),
    });
  });

  it('contains a nonce only if the authorization request contained it, and never after a refresh', async () => {
    const { idToken } = await running.tokensFor();
    expect(decodeJwt(idToken)).not.toHaveProperty('nonce');
    const asked = await running.tokensFor({ nonce: 'asked' });
    expect(decodeJwt(asked.idToken).nonce).toBe('asked');
    const refreshed = record(await (await running.refresh(asked.refreshToken)).json());
    expect(decodeJwt(String(refreshed.id_token))).not.toHaveProperty('nonce');
  });

  it.each([90210, '90210', 0, Number.MAX_SAFE_INTEGER])(
    'contains the EHR Partner ID as the host sent it: %j',
    async (identifierValue) => {
      const identifiers = [{ identifierType: 'EHR Partner ID', identifierValue }];
      const patient = aPatient({ 'patient-identifiers': identifiers });
      const fields = await running.codeFor({}, { launch: await running.launchFor({ patient }) });
      const { idToken } = tokensOf(await (await running.postToken(fields)).json());
      const { authorizationDetails } = decodeJwt(idToken);
      expect(JSON.parse(String(authorizationDetails))).toMatchObject([
        { 'patient-identifiers': identifiers },
      ]);
    },
  );

  it('contains only ASCII, so that atob decodes Welsh and Irish names', async () => {
    const { idToken, accessToken } = await running.tokensFor();
    for (const token of [idToken, accessToken]) {
      const [, payload = ''] = token.split('.');
      const bytes = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
      expect(bytes).toMatch(/^[\x20-\x7e]+$/);
    }
    const [, payload = ''] = idToken.split('.');
    const claims = record(JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))));
    expect(claims.firstName).toBe('Siân');
    expect(claims.orgName).toBe('Meddygfa Tŷ Bach 🌸');
    expect(JSON.parse(String(claims.authorizationDetails))).toMatchObject([
      { forenames: 'Gwenllïan Aoife', surname: 'Ní Bhriain', 'address-details': [{ addressLine1: '' }] },
    ]);
  });
});

describe.each([
  ['RS256', 'sha256'],
  ['ES256', 'sha256'],
  ['EdDSA', 'sha512'],
] as const)('tokens signed with %s', (signingAlgorithm, hash) => {
  it('are valid with the published keys, and at_hash is the left half of the hash of the access token', async () => {
    const ownStorage = await openTestStorage();
    const realms = desktopRealms({ signingAlgorithm });
    const one = await runDesktop({ clock, storage: ownStorage, realms });
    const { idToken, accessToken } = await one.tokensFor();
    const keySet = await one.idp.keySet(realm);
    const issuer = one.issuer(realm);
    const { payload, protectedHeader } = await jwtVerify(idToken, createLocalJWKSet(keySet), {
      issuer,
      audience: 'partner',
      currentDate: new Date(clock.now()),
    });
    expect(protectedHeader.alg).toBe(signingAlgorithm);
    expect(payload.at_hash).toBe(leftHalf(hash, accessToken));
    const { header } = await verifyToken(accessToken, { keySet, issuer, clock });
    expect(header.alg).toBe(signingAlgorithm);
    await one.stop();
    await ownStorage.close();
  });
});

describe('the access token', () => {
  it('has the claims of RFC 9068 for the user, and the patient encrypted for the resource API', async () => {
    const { accessToken } = await running.tokensFor();
    const keySet = await running.idp.keySet(realm);
    const { claims, header } = await verifyToken(accessToken, {
      keySet,
      issuer: running.issuer(realm),
      clock,
    });
    const now = clock.now() / 1000;
    expect(header.typ).toBe('at+jwt');
    expect(claims).toEqual({
      iss: running.issuer(realm),
      sub: 'ern:user:4711',
      aud: 'api://clinical-launch',
      client_id: 'partner',
      iat: now,
      nbf: now - 10,
      exp: now + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scope: 'openid launch resource.read',
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      authorizations: ['clinical-cr.read', 'doc-app.addcode'],
      acr: 'urn:clinical-launch:acr:launched-by-host',
      auth_time: expect.any(Number),
      launched_by: { iss: running.issuer('north'), client_id: 'host' },
      launch_context: expect.any(String),
    });
    const { user, organisation, patient } = aLaunch();
    const id = expect.stringMatching(/^[0-9a-f]{32}$/);
    const place = bindingOfTokenContext({ tokenId: String(claims.jti), launchId: String(claims.sid) });
    expect(deploymentSealer.open('access-token-context', String(claims.launch_context), place)).toEqual({
      user,
      organisation,
      patient,
      fhirIds: { Patient: id, Practitioner: id, Organization: id },
    });
  });

  it('of the largest launch fits into the headers of a request', async () => {
    const fill = (text: string, count: number) => Array.from({ length: count }, () => text);
    const patient = aPatient({
      'address-details': fill('a', 10).map(() => ({ addressLine1: 'é'.repeat(190) })),
    });
    const { accessToken } = await running
      .launchFor({ patient })
      .then((launch) => running.codeFor({}, { launch }))
      .then((fields) => running.postToken(fields))
      .then(async (response) => ({ accessToken: String(record(await response.json()).access_token) }));
    expect(accessToken.length).toBeGreaterThan(8000);
    const answer = await running.idp.get('/north/discovery/v2.0/keys', {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe('the scope of a partner', () => {
  it('and the response_mode and state are optional in the profile `standard`', async () => {
    const launch = await running.launchFor({ client_id: 'partner-standard' });
    const { verifier, challenge } = aVerifier();
    const { response_mode: _mode, state: _state, ...asked } = authorizeFields({ launch, challenge });
    const authorized = await running.postAuthorize({ ...asked, client_id: 'partner-standard' });
    const { searchParams } = new URL(String(authorized.headers.get('location')));
    expect([...searchParams.keys()]).toEqual(['tenant', 'code', 'iss']);
    const code = String(searchParams.get('code'));
    const { scope: _scope, ...fields } = tokenFields({ code, verifier, client_id: 'partner-standard' });
    const response = await running.postToken(fields);
    expect(record(await response.json())).toMatchObject({ scope: 'openid launch resource.read' });
  });

  it('cannot be widened by a refresh after the token request narrowed it', async () => {
    const fields = await running.codeFor();
    const response = await running.postToken({ ...fields, scope: 'launch' });
    const { scope, refresh_token } = record(await response.json());
    expect(scope).toBe('launch');
    const refreshed = await running.refresh(String(refresh_token), { scope: 'openid' });
    expect(record(await refreshed.json()).error).toBe('invalid_scope');
  });

  it('is narrowed by a refresh request only for the new access token (RFC 6749 section 6)', async () => {
    const { refreshToken } = await running.tokensFor();
    const narrowed = record(await (await running.refresh(refreshToken, { scope: 'launch' })).json());
    expect(narrowed.scope).toBe('launch');
    expect(decodeJwt(String(narrowed.access_token)).scope).toBe('launch');
    const whole = record(await (await running.refresh(String(narrowed.refresh_token))).json());
    expect(whole.scope).toBe('openid launch resource.read');
  });
});

function leftHalf(hash: string, token: string): string {
  const digest = createHash(hash).update(token).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
