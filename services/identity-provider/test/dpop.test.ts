import type { Storage } from '@clinical-launch/storage/storage';
import { makeDpopProof, thumbprintOf } from '@clinical-launch/testing/dpop-proof';
import { MachineClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createTestKey, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import {
  aPartner,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
} from './running-desktop.ts';
import { record } from './running-identity-provider.ts';

// Third-party clients use the machine's clock.
const clock = new MachineClock();
const at = 'bound/desktop';

let storage: Storage;
let running: RunningDesktop;
let key: TestKey;
beforeAll(async () => {
  storage = await openTestStorage();
  key = await createTestKey('partner-key');
  const bound = aPartner({ clientId: 'bound', profile: 'standard', dpopBoundAccessTokens: true });
  const realms = [...desktopRealms(), { realm: at, clients: [], desktop: { partners: [bound] } }];
  running = await runDesktop({ clock, storage, realms });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const endpoint = (of = realm) => `${running.url}/idp/${of}/oauth2/v2.0/token`;
type Changes = Partial<Omit<Parameters<typeof makeDpopProof>[0], 'clock'>>;
const proofFor = (changes: Changes = {}) =>
  makeDpopProof({ key, clock, method: 'POST', url: endpoint(), ...changes });
const post = async (fields: Fields, changes?: Changes) =>
  running.postToken(fields, realm, { DPoP: await proofFor(changes) });
const refresh = async (token: unknown, changes?: Changes) =>
  post({ grant_type: 'refresh_token', refresh_token: String(token) }, changes);
const lastReason = () => record(running.published.at(-1)?.data).reason;

describe('a partner application with DPoP (RFC 9449)', () => {
  it('gets and refreshes DPoP-bound tokens with the library openid-client', async () => {
    // openid-client derives the redirect URI from the callback.
    const [clientId, redirectUri] = ['partner-native', 'http://127.0.0.1/callback'];
    const client = await openid.discovery(
      new URL(running.issuer(realm)),
      clientId,
      undefined,
      openid.None(),
      { execute: [openid.allowInsecureRequests] },
    );
    const DPoP = openid.getDPoPHandle(client, await openid.randomDPoPKeyPair('ES256'));
    const fields = await running.codeFor({ client_id: clientId, redirect_uri: redirectUri });
    const callback = new URL(redirectUri);
    callback.search = new URLSearchParams({ code: fields.code, iss: running.issuer(realm) }).toString();
    const tokens = await openid.authorizationCodeGrant(
      client,
      callback,
      { pkceCodeVerifier: fields.code_verifier },
      {},
      { DPoP },
    );
    expect(tokens.token_type).toBe('dpop');
    expect(decodeJwt(tokens.access_token).cnf).toEqual({ jkt: await DPoP.calculateThumbprint() });
    const next = await openid.refreshTokenGrant(client, String(tokens.refresh_token), {}, { DPoP });
    expect(next.token_type).toBe('dpop');
    await expect(openid.refreshTokenGrant(client, String(next.refresh_token))).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('finds the algorithms for DPoP in the discovery document with the library oauth4webapi', async () => {
    const issuer = new URL(running.issuer(realm));
    const answer = await oauth.discoveryRequest(issuer, { [oauth.allowInsecureRequests]: true });
    const server = await oauth.processDiscoveryResponse(issuer, answer);
    expect(server.dpop_signing_alg_values_supported).toContain('ES256');
  });

  it('cannot use its refresh token without a proof by the same key', async () => {
    const tokens = record(await (await post(await running.codeFor())).json());
    expect(tokens.token_type).toBe('DPoP');
    const plain = await running.refresh(String(tokens.refresh_token));
    expect(await refusalOf(plain)).toEqual(refused('invalid_grant'));
    const thief = await refresh(tokens.refresh_token, { key: await createTestKey('thief') });
    expect(await refusalOf(thief)).toEqual(refused('invalid_grant'));
    expect(lastReason()).toBe('ticket_of_other_key');
    const next = record(await (await refresh(tokens.refresh_token)).json());
    expect(decodeJwt(String(next.access_token)).cnf).toEqual({ jkt: await thumbprintOf(key) });
    // A refresh without a proof is also refused within the ten seconds in which the same
    // successor is returned.
    expect((await running.refresh(String(tokens.refresh_token))).status).toBe(400);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('has tokens whose introspection contains the thumbprint of their key', async () => {
    const tokens = record(await (await post(await running.codeFor())).json());
    const cnf = { jkt: await thumbprintOf(key) };
    const access = await running.introspect(String(tokens.access_token));
    expect(access).toMatchObject({ active: true, token_type: 'DPoP', cnf });
    expect(await running.introspect(String(tokens.refresh_token))).toMatchObject({ active: true, cnf });
  });

  it('may bind its code to a key by dpop_jkt, so that the code is refused without that key', async () => {
    const fields = await running.codeFor({ dpop_jkt: await thumbprintOf(key) });
    expect(await refusalOf(await running.postToken(fields))).toEqual(refused('invalid_grant'));
    const thief = await post(fields, { key: await createTestKey('thief') });
    expect(await refusalOf(thief)).toEqual(refused('invalid_grant'));
    expect((await post(fields)).status).toBe(200);
    await expect(running.codeFor({ dpop_jkt: 'short' })).rejects.toThrow('dpop_jkt');
  });

  it('must send a DPoP proof if the registry requires DPoP', async () => {
    const fields: Fields = await running.codeFor({ client_id: 'bound' }, { at });
    expect(await refusalOf(await running.postToken(fields, at))).toEqual(refused('invalid_dpop_proof'));
    expect(lastReason()).toBe('missing_dpop_proof');
    const DPoP = await proofFor({ url: endpoint(at) });
    expect((await running.postToken(fields, at, { DPoP })).status).toBe(200);
  });
});

describe('a token request', () => {
  const seconds = () => Math.floor(clock.now() / 1000);
  const faults: [string, () => Changes][] = [
    ['a proof for another endpoint', () => ({ url: endpoint().replace('token', 'revoke') })],
    ['a proof for another realm', () => ({ url: endpoint('south/desktop') })],
    ['a proof for another method', () => ({ method: 'GET' })],
    ['a proof that is too old', () => ({ claims: { iat: seconds() - 70 } })],
    ['a proof without a jti', () => ({ claims: { jti: undefined } })],
    ['an assertion as its proof', () => ({ header: { typ: 'JWT' } })],
  ];

  it.each(faults)('with %s is refused and leaves the code usable', async (_which, changes) => {
    const fields = await running.codeFor();
    expect(await refusalOf(await post(fields, changes()))).toEqual(refused('invalid_dpop_proof'));
    expect((await running.postToken(fields)).status).toBe(200);
  });
});

describe('a DPoP proof that is sent again for the same launch', () => {
  it('is refused and leaves the refresh token usable', async () => {
    const DPoP = await proofFor();
    const answer = await running.postToken(await running.codeFor(), realm, { DPoP });
    const { refresh_token } = record(await answer.json());
    const fields = { grant_type: 'refresh_token', refresh_token: String(refresh_token) };
    expect(await refusalOf(await running.postToken(fields, realm, { DPoP }))).toEqual(
      refused('invalid_dpop_proof'),
    );
    expect(lastReason()).toBe('used_dpop_proof');
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('is refused before the code or refresh token is checked, so that a repeated request revokes nothing', async () => {
    const [codeProof, refreshProof] = [await proofFor(), await proofFor()];
    const fields = await running.codeFor();
    const send = async (form: Fields, DPoP: string) => running.postToken(form, realm, { DPoP });
    const { refresh_token } = record(await (await send(fields, codeProof)).json());
    const refreshing = { grant_type: 'refresh_token', refresh_token: String(refresh_token) };
    const next = record(await (await send(refreshing, refreshProof)).json());
    for (const [form, proof] of [
      [fields, codeProof],
      [refreshing, refreshProof],
    ] as const)
      expect(await refusalOf(await send(form, proof))).toEqual(refused('invalid_dpop_proof'));
    expect(await running.isActive(String(next.access_token))).toBe(true);
    // With a new proof, the replay of the code revokes its tokens.
    expect(await refusalOf(await post(fields))).toEqual(refused('invalid_grant'));
    expect(await running.isActive(String(next.access_token))).toBe(false);
  });

  it('is accepted in only one of several concurrent refresh requests', async () => {
    const tokens = record(await (await post(await running.codeFor())).json());
    const fields = { grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) };
    const DPoP = await proofFor();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => running.postToken(fields, realm, { DPoP })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
