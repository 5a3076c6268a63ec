import type { Storage } from '@clinical-launch/storage/storage';
import { MachineClock, TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createTestKey, startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import { InMemoryRevokedTokens } from '@clinical-launch/trust/in-memory-revoked-tokens';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import {
  aPartner,
  desktopRealms,
  type RunningDesktop,
  refusalOf,
  refused,
  runDesktop,
} from './running-desktop.ts';
import { assertionFor, assertionType } from './running-hosts.ts';
import { aClient, audience, basic, scope } from './running-identity-provider.ts';

// Third-party clients use the machine's clock.
const clock = new MachineClock();
const secret = 'a secret of this client';
const insecure = { execute: [openid.allowInsecureRequests] };

let storage: Storage;
let stranger: Awaited<ReturnType<typeof startTokenIssuer>>;
let key: TestKey;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  stranger = await startTokenIssuer({ clock, audience });
  key = await createTestKey('key-1');
  const mixed = {
    realm: 'mixed',
    clients: [aClient()],
    desktop: { partners: [aPartner({ clientId: 'partner-standard', profile: 'standard' })] },
  };
  const assured = {
    realm: 'assured',
    clients: [aClient({ clientId: 'by-key', secrets: [], jwks: { keys: [key.publicJwk] } })],
  };
  running = await runDesktop({ clock, storage, realms: [...desktopRealms(), mixed, assured] });
});
afterAll(async () => {
  await running.stop();
  await stranger.stop();
  await storage.close();
});

const tokenOf = async (at = 'north', clientId = 'pms-north') =>
  String((await running.idp.token(at, { client_id: clientId })).access_token);
const revoke = (fields: Record<string, string>, at = 'north', headers: Record<string, string> = {}) =>
  running.idp.postForm(`/${at}/oauth2/v2.0/revoke`, fields, headers);
const asClient = (token: string, clientId = 'pms-north') => ({
  client_id: clientId,
  client_secret: secret,
  token,
});
const isActive = async (token: string, at = 'north') => (await running.introspect(token, at)).active;
const revokedIds = () =>
  running.published.flatMap(({ type, data }) =>
    type === 'access.token.revoked.v1' ? [(data as { tokenId: string }).tokenId] : [],
  );

describe('POST /{realm}/oauth2/v2.0/revoke with the access token of a client (RFC 7009)', () => {
  it.each([
    ['client_secret_post', openid.ClientSecretPost(secret)],
    ['client_secret_basic', openid.ClientSecretBasic(secret)],
  ])(
    'revokes the token immediately and publishes one event, with openid-client and %s',
    async (_method, authentication) => {
      const client = await openid.discovery(
        new URL(running.issuer('north')),
        'pms-north',
        undefined,
        authentication,
        insecure,
      );
      const { access_token: token } = await openid.clientCredentialsGrant(client, { scope });
      expect(await isActive(token)).toBe(true);
      await openid.tokenRevocation(client, token);
      expect(await isActive(token)).toBe(false);
      await openid.tokenRevocation(client, token, { token_type_hint: 'access_token' });
      const tokenId = decodeJwt(token).jti;
      const events = running.published.filter(({ type }) => type === 'access.token.revoked.v1');
      expect(events.filter(({ data }) => JSON.stringify(data).includes(String(tokenId)))).toEqual([
        expect.objectContaining({
          data: { realm: 'north', clientId: 'pms-north', tokenId, address: '127.0.0.1' },
        }),
      ]);
      expect(JSON.stringify(events)).not.toContain(token);
    },
  );

  it('revokes the token with openid-client and private_key_jwt, which the discovery document advertises', async () => {
    const client = await openid.discovery(
      new URL(running.issuer('assured')),
      'by-key',
      undefined,
      openid.PrivateKeyJwt({ key: key.privateKey, kid: key.kid }),
      insecure,
    );
    expect(client.serverMetadata().revocation_endpoint_auth_methods_supported).toContain('private_key_jwt');
    const { access_token: token } = await openid.clientCredentialsGrant(client, { scope });
    await openid.tokenRevocation(client, token);
    expect(await isActive(token, 'assured')).toBe(false);
  });

  it('accepts each client assertion only once', async () => {
    const assertion = await assertionFor({
      clientId: 'by-key',
      audience: `${running.url}/idp/assured/oauth2/v2.0/revoke`,
      key,
      clock,
      claims: {},
      header: {},
    });
    const proof = { client_assertion_type: assertionType, client_assertion: assertion };
    expect((await revoke({ ...proof, token: 'nonsense' }, 'assured')).status).toBe(200);
    const replayed = await revoke({ ...proof, token: 'nonsense' }, 'assured');
    expect(await refusalOf(replayed)).toEqual(refused('invalid_client', 401));
  });

  it('does not revoke other tokens of the client', async () => {
    const [ended, other] = [await tokenOf(), await tokenOf()];
    await revoke(asClient(ended));
    expect([await isActive(ended), await isActive(other)]).toEqual([false, true]);
  });

  it('refuses another client, whatever client_id it sends, and leaves the token active', async () => {
    const token = await tokenOf();
    expect(await refusalOf(await revoke(asClient(token, 'neighbour')))).toEqual(refused('invalid_grant'));
    const posing = await revoke({ client_id: 'pms-north', token }, 'north', {
      authorization: basic('neighbour', secret),
    });
    expect(posing.status).toBe(400);
    expect(await isActive(token)).toBe(true);
  });

  it.each([
    ['a wrong secret', { client_id: 'host', client_secret: 'wrong' }],
    ['an unknown client', { client_id: 'nobody', client_secret: secret }],
    ['no secret', { client_id: 'host' }],
    ['no client', {}],
    ['an invalid assertion', { client_assertion_type: assertionType, client_assertion: 'a.b.c' }],
  ])('answers 401 to a request with %s, and leaves the token active', async (_which, credentials) => {
    const token = await tokenOf('north', 'host');
    const response = await revoke({ token, ...credentials } as Record<string, string>);
    expect(await refusalOf(response)).toEqual(refused('invalid_client', 401));
    expect(await isActive(token)).toBe(true);
  });

  it('answers 200 and revokes nothing if the token is malformed or from another realm or issuer', async () => {
    const before = revokedIds();
    const elsewhere = await tokenOf('mixed');
    for (const token of [elsewhere, await stranger.sign(), 'nonsense', 'a.b.c', `${await tokenOf()}x`]) {
      const response = await revoke(asClient(token));
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
    expect(revokedIds()).toEqual(before);
    expect(await isActive(elsewhere, 'mixed')).toBe(true);
  });

  it('answers 200 and revokes nothing if the token has expired', async () => {
    const testClock = new TestClock(Date.now());
    const later = await runDesktop({ clock: testClock, storage });
    const { access_token } = await later.idp.token('north');
    testClock.advance({ seconds: 3600 });
    const fields = asClient(String(access_token));
    expect((await later.idp.postForm('/north/oauth2/v2.0/revoke', fields)).status).toBe(200);
    expect(later.published.map(({ type }) => type)).not.toContain('access.token.revoked.v1');
    await later.stop();
  });

  it('stores the revocation until a minute after the token expires, as verifiers may have slow clocks', async () => {
    const testClock = new TestClock(Date.now());
    const own = await runDesktop({ clock: testClock, storage });
    const token = String((await own.idp.token('north')).access_token);
    const { jti = '' } = decodeJwt(token);
    await own.idp.postForm('/north/oauth2/v2.0/revoke', asClient(token));
    testClock.advance({ seconds: 3600 + 58 });
    expect(await own.revokedTokens.has(jti)).toBe(true);
    testClock.advance({ seconds: 3 });
    expect(await own.revokedTokens.has(jti)).toBe(false);
    await own.stop();
  });

  it('answers 400 to a request without a token', async () => {
    const response = await revoke({ client_id: 'pms-north', client_secret: secret });
    expect(await refusalOf(response)).toEqual(refused('invalid_request'));
  });

  it('lets clients and partner applications of one realm revoke only their own tokens', async () => {
    const ofClient = await tokenOf('mixed');
    const ofPartner = await running.tokensFor({ client_id: 'partner-standard' }, 'mixed');
    expect((await revoke({ client_id: 'partner-standard', token: ofClient }, 'mixed')).status).toBe(200);
    const byClient = await revoke(asClient(ofPartner.accessToken), 'mixed');
    expect(await refusalOf(byClient)).toEqual(refused('invalid_grant'));
    expect([await isActive(ofClient, 'mixed'), await isActive(ofPartner.accessToken, 'mixed')]).toEqual([
      true,
      true,
    ]);
    expect((await revoke(asClient(ofClient), 'mixed')).status).toBe(200);
    const byPartner = { client_id: 'partner-standard', token: ofPartner.accessToken };
    expect((await revoke(byPartner, 'mixed')).status).toBe(200);
    expect([await isActive(ofClient, 'mixed'), await isActive(ofPartner.accessToken, 'mixed')]).toEqual([
      false,
      false,
    ]);
  });

  it('gives known and unknown clients the same answers in a realm with partner applications', async () => {
    const statuses = async (clientId: string) =>
      await Promise.all(
        [{ client_id: clientId }, { client_id: clientId, client_secret: 'wrong' }].map(async (fields) =>
          refusalOf(await revoke({ ...fields, token: 'nonsense' }, 'mixed')),
        ),
      );
    expect(await statuses('pms-north')).toEqual(await statuses('nobody'));
  });

  it('answers 429 with Retry-After to a client with too many revoked tokens that have not expired', async () => {
    const testClock = new TestClock(Date.now());
    const revokedTokens = new InMemoryRevokedTokens({
      clock: testClock,
      outbox: running.bus,
      maxTokens: 2,
    });
    const limited = await runDesktop({ clock: testClock, storage, revokedTokens });
    const ends = async (clientId = 'pms-north') => {
      const token = String((await limited.idp.token('north', { client_id: clientId })).access_token);
      return await limited.idp.postForm('/north/oauth2/v2.0/revoke', asClient(token, clientId));
    };
    expect([(await ends()).status, (await ends()).status]).toEqual([200, 200]);
    const refusal = await ends();
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(3500);
    expect(await refusalOf(refusal)).toEqual(refused('too_many_requests', 429));
    expect((await ends('neighbour')).status).toBe(200);
    testClock.advance({ seconds: 3700 });
    expect((await ends()).status).toBe(200);
    await limited.stop();
  });
});
