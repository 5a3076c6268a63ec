import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chainOf,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
  tokensOf,
} from './running-desktop.ts';
import { basic, record } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let stranger: Awaited<ReturnType<typeof startTokenIssuer>>;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  stranger = await startTokenIssuer({ clock, audience: 'api://clinical-launch' });
  running = await runDesktop({
    clock,
    storage,
    realms: desktopRealms(),
    trustedIssuers: [{ issuer: stranger.issuer, clients: [{ clientId: 'pms' }] }],
  });
});
afterAll(async () => {
  await running.stop();
  await stranger.stop();
  await storage.close();
});

const revoke = (fields: Fields | [string, string][], at = realm, headers: Fields = {}) =>
  running.idp.postForm(`/${at}/oauth2/v2.0/revoke`, fields, headers);

describe('POST /{realm}/oauth2/v2.0/revoke (RFC 7009)', () => {
  it.each(['refreshToken', 'accessToken'] as const)(
    'revokes all tokens of a launch, given its %s',
    async (kind) => {
      const first = await running.tokensFor();
      const second = tokensOf(await (await running.refresh(first.refreshToken)).json());
      const response = await revoke({ client_id: 'partner', token: second[kind] });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('');
      expect(response.headers.get('x-correlation-id')).toBe(chainOf(first));
      for (const token of [first.accessToken, second.accessToken, second.refreshToken]) {
        expect(await running.isActive(token)).toBe(false);
      }
      expect(await refusalOf(await running.refresh(second.refreshToken))).toEqual(refused('invalid_grant'));
      expect(running.eventsOf(chainOf(first))).toContainEqual(
        expect.objectContaining({
          type: 'desktop.chain.revoked.v1',
          data: { realm, reason: 'revoked_by_client', address: '127.0.0.1' },
        }),
      );
    },
  );

  it('does not affect other launches', async () => {
    const [ended, other] = [await running.tokensFor(), await running.tokensFor()];
    await revoke({ client_id: 'partner', token: ended.refreshToken });
    expect(await running.isActive(other.accessToken)).toBe(true);
    expect((await running.refresh(other.refreshToken)).status).toBe(200);
  });

  it('requires no client_id or token_type_hint, and accepts a wrong token_type_hint', async () => {
    for (const fields of [{}, { token_type_hint: 'access_token' }, { token_type_hint: 'nonsense' }]) {
      const { refreshToken } = await running.tokensFor();
      expect((await revoke({ token: refreshToken, ...fields })).status).toBe(200);
      expect(await running.isActive(refreshToken)).toBe(false);
    }
  });

  it('answers 200 for an inactive token (RFC 7009 section 2.2)', async () => {
    const { refreshToken } = await running.tokensFor();
    for (const token of [refreshToken, refreshToken, 'nonsense', 'a.b.c']) {
      expect((await revoke({ client_id: 'partner', token })).status).toBe(200);
    }
  });

  it('does not revoke a token of another client or realm', async () => {
    const { refreshToken, accessToken } = await running.tokensFor();
    for (const token of [refreshToken, accessToken]) {
      const other = await revoke({ client_id: 'partner-standard', token });
      expect(await refusalOf(other)).toEqual(refused('invalid_grant'));
      expect((await revoke({ client_id: 'partner', token }, 'south/desktop')).status).toBe(200);
    }
    expect(await running.isActive(accessToken)).toBe(true);
    expect((await running.refresh(refreshToken)).status).toBe(200);
  });

  it.each([
    [{ client_id: 'partner' }, 'invalid_request'],
    [{ client_id: 'partner', token: '' }, 'invalid_request'],
    [{ client_id: 'nobody', token: 'x' }, 'invalid_client'],
    [{ client_id: 'partner', client_secret: 'x', token: 'x' }, 'invalid_client'],
  ])('answers %j with the error %s', async (fields, error) => {
    expect(await refusalOf(await revoke(fields as Fields))).toEqual(refused(error));
  });

  it('refuses a repeated token parameter', async () => {
    const { refreshToken } = await running.tokensFor();
    const response = await revoke([
      ['token', refreshToken],
      ['token', refreshToken],
    ]);
    expect(await refusalOf(response)).toEqual(refused('invalid_request'));
    expect(await running.isActive(refreshToken)).toBe(true);
  });
});

describe('POST /{realm}/oauth2/v2.0/introspect (RFC 7662)', () => {
  const launchContext = {
    patient: expect.stringMatching(/^[0-9a-f]{32}$/),
    need_patient_banner: true,
    fhirContext: [{ reference: expect.stringMatching(/^Organization\/[0-9a-f]{32}$/), type: 'Organization' }],
  };

  it('returns the claims of an active access token with its host application, and of the patient only an id', async () => {
    const { accessToken } = await running.tokensFor();
    const reported = await running.introspect(accessToken);
    const now = clock.now() / 1000;
    expect(reported).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: running.issuer(realm),
      sub: 'ern:user:4711',
      aud: 'api://clinical-launch',
      client_id: 'partner',
      iat: now,
      nbf: now - 10,
      exp: now + 3600,
      jti: expect.any(String),
      scope: 'openid launch resource.read',
      sid: chainOf({ accessToken, refreshToken: '', idToken: '' }),
      authorizations: ['clinical-cr.read', 'doc-app.addcode'],
      acr: 'urn:clinical-launch:acr:launched-by-host',
      auth_time: now,
      launched_by: { iss: running.issuer('north'), client_id: 'host' },
      ...launchContext,
    });
  });

  it('returns the details of an active refresh token', async () => {
    const { refreshToken } = await running.tokensFor();
    expect(await running.introspect(refreshToken)).toEqual({
      active: true,
      client_id: 'partner',
      scope: 'openid launch resource.read',
      sub: 'ern:user:4711',
      iss: running.issuer(realm),
      acr: 'urn:clinical-launch:acr:launched-by-host',
      auth_time: clock.now() / 1000,
      launched_by: { iss: running.issuer('north'), client_id: 'host' },
      ...launchContext,
    });
  });

  it('returns only active: false for a token that is invalid, expired, or of another kind or realm', async () => {
    const tokens = await running.tokensFor();
    const client = await running.hostToken();
    const foreign = await stranger.sign();
    const launch = await running.launchFor();
    for (const token of [tokens.idToken, client, foreign, launch, 'nonsense', `${tokens.accessToken}x`]) {
      expect(await running.introspect(token)).toEqual({ active: false });
    }
    for (const token of [tokens.accessToken, tokens.refreshToken]) {
      expect(await running.introspect(token, 'south/desktop')).toEqual({ active: false });
    }
    clock.advance({ seconds: 3600 });
    expect(await running.introspect(tokens.accessToken)).toEqual({ active: false });
  });

  it('answers only resource servers of the platform’s realms, and publishes an event with their client_id', async () => {
    const { accessToken } = await running.tokensFor();
    const ask = (authorization: string) =>
      running.idp.postForm(`/${realm}/oauth2/v2.0/introspect`, { token: accessToken }, { authorization });
    const byStranger = await stranger.sign({ claims: { scope: 'token.introspect' } });
    expect((await ask(basic('resource-server', 'a secret of this client'))).status).toBe(401);
    expect((await ask(`Bearer ${accessToken}`)).status).toBe(401);
    expect((await ask(`Bearer ${await running.hostToken()}`)).status).toBe(403);
    expect((await ask(`Bearer ${byStranger}`)).status).toBe(403);
    await running.introspect(accessToken);
    const event = running.published.findLast(({ type }) => type === 'access.introspected.v1');
    expect(event?.data).toEqual({
      address: '127.0.0.1',
      realm,
      issuer: running.issuer('north'),
      clientId: 'resource-server',
      isActive: true,
    });
    expect(JSON.stringify(record(event))).not.toContain(accessToken);
  });
});
