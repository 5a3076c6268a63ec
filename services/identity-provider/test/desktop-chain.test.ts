import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  aPartner,
  authorizeFields,
  aVerifier,
  chainOf,
  desktopRealms,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
  type Tokens,
  tokenFields,
  tokensOf,
} from './running-desktop.ts';
import { record } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  const brief = {
    realm: 'brief/desktop',
    clients: [],
    accessTokenSeconds: 60,
    desktop: {
      partners: [aPartner()],
      launchIdentifierSeconds: 20,
      authorizationCodeSeconds: 10,
      refreshTokenSeconds: 120,
    },
  };
  const shift = {
    realm: 'shift/desktop',
    clients: [],
    desktop: { partners: [aPartner()], sessionSeconds: 600 },
  };
  running = await runDesktop({ clock, storage, realms: [...desktopRealms(), brief, shift] });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

/** Returns the audited reason of the last refusal. */
const lastReason = () => {
  const event = running.published.findLast(({ type }) => type.endsWith('.refused.v1'));
  return record(event?.data).reason;
};
const revocationsOf = (tokens: Tokens) =>
  running
    .eventsOf(chainOf(tokens))
    .filter(({ type }) => type === 'desktop.chain.revoked.v1')
    .map(({ data }) => data);

describe('a launch identifier', () => {
  const use = (launch: string, at = realm, clientId = 'partner') =>
    running.postAuthorize(
      { ...authorizeFields({ launch, challenge: aVerifier().challenge }), client_id: clientId },
      at,
    );

  it('can be exchanged for only one code, even by concurrent requests', async () => {
    const launch = await running.launchFor();
    const responses = await Promise.all(Array.from({ length: 20 }, () => use(launch)));
    expect(responses.filter(({ status }) => status === 302)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(19);
    expect(lastReason()).toBe('used_launch');
  });

  it.each([
    [realm, 300],
    ['brief/desktop', 20],
  ])('of the realm %s expires after %d seconds', async (at, seconds) => {
    const [inTime, late] = [await running.launchFor({}, at), await running.launchFor({}, at)];
    clock.advance({ seconds: seconds - 1 });
    expect((await use(inTime, at)).status).toBe(302);
    clock.advance({ seconds: 1 });
    expect(await refusalOf(await use(late, at))).toEqual(refused('invalid_request'));
    expect(lastReason()).toBe('unknown_launch');
  });

  it('can be used only by its client, and stays usable after a request of another client', async () => {
    const launch = await running.launchFor({ client_id: 'partner-standard' });
    expect(await refusalOf(await use(launch))).toEqual(refused('invalid_request'));
    expect(lastReason()).toBe('launch_of_other_client');
    expect((await use(launch, realm, 'partner-standard')).status).toBe(302);
  });

  it('can be used only in its realm, even if its client is registered in two realms', async () => {
    const launch = await running.launchFor();
    expect(await refusalOf(await use(launch, 'south/desktop'))).toEqual(refused('invalid_request'));
    expect((await use(launch)).status).toBe(302);
  });

  it('is not interchangeable with an authorization code or a refresh token', async () => {
    const launch = await running.launchFor();
    const fields = await running.codeFor();
    const { refreshToken } = await running.tokensFor();
    expect((await running.postToken({ ...fields, code: launch })).status).toBe(400);
    expect((await running.postToken({ ...fields, code: refreshToken })).status).toBe(400);
    expect((await running.refresh(String(fields.code))).status).toBe(400);
    expect((await running.refresh(launch)).status).toBe(400);
    expect((await use(String(fields.code))).status).toBe(400);
    expect((await running.postToken(fields)).status).toBe(200);
  });
});

describe('a launch', () => {
  it('has access tokens with the lifetime that its realm sets', async () => {
    const at = 'brief/desktop';
    const response = await running.postToken(await running.codeFor({}, { at }), at);
    const { access_token, expires_in } = record(await response.json());
    const { exp = 0 } = decodeJwt(String(access_token));
    expect([expires_in, exp - clock.now() / 1000]).toEqual([60, 60]);
  });

  it('answers 429 after 1,000 refreshes, including repeats, and keeps its tokens active', async () => {
    const first = await running.tokensFor({}, realm);
    let [used, last] = [first, first];
    for (let round = 0; round < 500; round += 1) {
      const [response, repeated] = [
        await running.refresh(last.refreshToken),
        await running.refresh(last.refreshToken),
      ];
      [used, last] = [last, tokensOf(await response.json())];
      expect([response.status, repeated.status]).toEqual([200, 200]);
    }
    for (const { refreshToken } of [last, used]) {
      const response = await running.refresh(refreshToken);
      expect(response.headers.get('retry-after')).toBe(String(12 * 60 * 60));
      expect(await refusalOf(response)).toEqual(refused('too_many_requests', 429));
      expect(response.headers.get('x-correlation-id')).toBe(chainOf(first));
    }
    expect([await running.isActive(last.accessToken), await running.isActive(last.refreshToken)]).toEqual([
      true,
      true,
    ]);
    expect(revocationsOf(first)).toEqual([]);
    const other = await running.tokensFor();
    expect((await running.refresh(other.refreshToken)).status).toBe(200);
  });
});

describe('the log of a refused request', () => {
  const altered = (ticket: string) => ticket.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const fieldsWith = (launch: string) => authorizeFields({ launch, challenge: aVerifier().challenge });
  /** Sends the request of a partner application with an unknown ticket. */
  const asked: Record<string, (launch: string) => Promise<Response>> = {
    'a launch identifier': (launch) => running.postAuthorize(fieldsWith(launch)),
    'a pushed launch identifier': (launch) =>
      running.idp.postForm(`/${realm}/oauth2/v2.0/par`, fieldsWith(launch)),
    'a pushed request': (launch) =>
      running.postAuthorize({
        client_id: 'partner',
        request_uri: `urn:ietf:params:oauth:request_uri:${launch}`,
      }),
    'a code': (code) => running.postToken(tokenFields({ code, verifier: aVerifier().verifier })),
    'a refresh token': (token) => running.refresh(token),
  };

  it.each(Object.keys(asked))(
    'has the trace of the launch that %s names, even if it is unknown',
    async (name) => {
      const tokens = await running.tokensFor();
      const response = await asked[name]?.(altered(tokens.refreshToken));
      expect(response?.status).toBe(400);
      const id = response?.headers.get('x-correlation-id');
      const lines = running.lines.map((line) => record(JSON.parse(line)));
      const traces = lines.filter(({ correlationId }) => correlationId === id).map((line) => line.trace_id);
      expect(new Set(traces)).toEqual(new Set([chainOf(tokens).replaceAll('-', '')]));
    },
  );
});

describe('an authorization code', () => {
  it('gives tokens once, and a second use revokes these tokens', async () => {
    const fields = await running.codeFor();
    const tokens = tokensOf(await (await running.postToken(fields)).json());
    const next = tokensOf(await (await running.refresh(tokens.refreshToken)).json());
    expect(await running.isActive(next.accessToken)).toBe(true);
    expect(await refusalOf(await running.postToken(fields))).toEqual(refused('invalid_grant'));
    expect(lastReason()).toBe('used_code');
    for (const token of [tokens.accessToken, next.accessToken, next.refreshToken]) {
      expect(await running.isActive(token)).toBe(false);
    }
    expect(await refusalOf(await running.refresh(next.refreshToken))).toEqual(refused('invalid_grant'));
    expect(revocationsOf(tokens)).toMatchObject([{ realm, reason: 'code_replayed' }]);
  });

  it('revokes its tokens when it is replayed, even with a wrong verifier', async () => {
    const fields = await running.codeFor();
    const tokens = tokensOf(await (await running.postToken(fields)).json());
    const stolen = { ...fields, code_verifier: aVerifier().verifier };
    expect(await refusalOf(await running.postToken(stolen))).toEqual(refused('invalid_grant'));
    expect(await running.isActive(tokens.accessToken)).toBe(false);
  });

  it('gives tokens to one of several concurrent requests, and the other requests revoke these tokens', async () => {
    const fields = await running.codeFor();
    const responses = await Promise.all(Array.from({ length: 20 }, () => running.postToken(fields)));
    const [won, ...more] = responses.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(19);
    const tokens = tokensOf(await won?.json());
    expect(await running.isActive(tokens.accessToken)).toBe(false);
  });

  it.each([
    [realm, 60],
    ['brief/desktop', 10],
  ])('of the realm %s expires after %d seconds', async (at, seconds) => {
    const [inTime, late] = [await running.codeFor({}, { at }), await running.codeFor({}, { at })];
    clock.advance({ seconds: seconds - 1 });
    expect((await running.postToken(inTime, at)).status).toBe(200);
    clock.advance({ seconds: 1 });
    expect(await refusalOf(await running.postToken(late, at))).toEqual(refused('invalid_grant'));
    expect(lastReason()).toBe('unknown_code');
  });

  it.each([
    ['another client', { client_id: 'partner-standard' }, 'code_of_other_client'],
    ['another redirectUri', { redirect_uri: 'https://partner.example/auth' }, 'code_mismatch'],
    ['another verifier', { code_verifier: aVerifier().verifier }, 'code_mismatch'],
  ])('is refused if the request contains %s, and stays usable', async (_who, change, reason) => {
    const fields = await running.codeFor();
    const response = await running.postToken({ ...fields, ...change });
    expect(await refusalOf(response)).toEqual(refused('invalid_grant'));
    expect(lastReason()).toBe(reason);
    expect((await running.postToken(fields)).status).toBe(200);
  });

  it('is revoked after five wrong verifiers, so that even the right verifier fails', async () => {
    const fields = await running.codeFor();
    for (let round = 0; round < 5; round += 1) {
      const wrong = { ...fields, code_verifier: aVerifier().verifier };
      expect(await refusalOf(await running.postToken(wrong))).toEqual(refused('invalid_grant'));
      expect(lastReason()).toBe('code_mismatch');
    }
    expect(await refusalOf(await running.postToken(fields))).toEqual(refused('invalid_grant'));
    expect(lastReason()).toBe('used_code');
    const chain = running.published.at(-1)?.correlationid ?? '';
    const ended = running.eventsOf(chain).filter(({ type }) => type === 'desktop.chain.revoked.v1');
    expect(ended.map(({ data }) => data)).toMatchObject([{ realm, reason: 'code_guessed' }]);
  });

  it('is refused in another realm of its client, and stays usable', async () => {
    const fields = await running.codeFor();
    const response = await running.postToken(fields, 'south/desktop');
    expect(await refusalOf(response)).toEqual(refused('invalid_grant'));
    expect((await running.postToken(fields)).status).toBe(200);
  });

  it('of a native application is bound to the port in the redirect URI of the authorization request', async () => {
    const asked = { client_id: 'partner-native', redirect_uri: 'http://127.0.0.1:5001/callback' };
    const fields = await running.codeFor(asked);
    const other = { ...fields, redirect_uri: 'http://127.0.0.1:5002/callback' };
    expect(await refusalOf(await running.postToken(other))).toEqual(refused('invalid_grant'));
    expect((await running.postToken(fields)).status).toBe(200);
  });

  it('is refused with a wider scope than granted, and stays usable', async () => {
    const fields = await running.codeFor({ scope: 'launch' });
    const wide = await running.postToken({ ...fields, scope: 'launch resource.read' });
    expect(await refusalOf(wide)).toEqual(refused('invalid_scope'));
    expect((await running.postToken({ ...fields, scope: 'launch' })).status).toBe(200);
  });
});

describe('a refresh token', () => {
  it('is rotated each time it is used', async () => {
    const first = await running.tokensFor();
    const second = tokensOf(await (await running.refresh(first.refreshToken)).json());
    const third = tokensOf(await (await running.refresh(second.refreshToken)).json());
    const all = [first, second, third];
    expect(new Set(all.map(({ refreshToken }) => refreshToken)).size).toBe(3);
    expect(new Set(all.map(({ accessToken }) => accessToken)).size).toBe(3);
    expect(new Set(all.map(chainOf)).size).toBe(1);
    expect(await running.isActive(first.accessToken)).toBe(true);
  });

  it('gives the same successor for a minute while the successor is unused, in case an answer was lost', async () => {
    const { refreshToken } = await running.tokensFor();
    const first = tokensOf(await (await running.refresh(refreshToken)).json());
    clock.advance({ seconds: 59 });
    const again = tokensOf(await (await running.refresh(refreshToken)).json());
    expect(again.refreshToken).toBe(first.refreshToken);
    expect(await running.isActive(again.accessToken)).toBe(true);
    const reported = running
      .eventsOf(chainOf(again))
      .filter(({ type }) => type === 'desktop.tokens.issued.v1');
    expect(reported).toHaveLength(3);
    expect((await running.refresh(first.refreshToken)).status).toBe(200);
  });

  it('gives the newest successor for ten seconds after its successor was used, in case a second tab uses it', async () => {
    const first = await running.tokensFor();
    const second = tokensOf(await (await running.refresh(first.refreshToken)).json());
    const third = tokensOf(await (await running.refresh(second.refreshToken)).json());
    clock.advance({ seconds: 9 });
    const again = tokensOf(await (await running.refresh(first.refreshToken)).json());
    expect(again.refreshToken).toBe(third.refreshToken);
    clock.advance({ seconds: 1 });
    expect(await refusalOf(await running.refresh(first.refreshToken))).toEqual(refused('invalid_grant'));
    expect(await running.isActive(third.refreshToken)).toBe(false);
  });

  it('revokes its whole token family when it is replayed after more than a minute', async () => {
    const first = await running.tokensFor();
    const second = tokensOf(await (await running.refresh(first.refreshToken)).json());
    clock.advance({ seconds: 61 });
    expect(await refusalOf(await running.refresh(first.refreshToken))).toEqual(refused('invalid_grant'));
    expect(lastReason()).toBe('used_refresh_token');
    for (const token of [first.accessToken, second.accessToken, second.refreshToken]) {
      expect(await running.isActive(token)).toBe(false);
    }
    expect(await refusalOf(await running.refresh(second.refreshToken))).toEqual(refused('invalid_grant'));
    expect(revocationsOf(first)).toMatchObject([{ realm, reason: 'refresh_token_replayed' }]);
  });

  it('has one active successor after fifty concurrent uses', async () => {
    const { refreshToken } = await running.tokensFor();
    const responses = await Promise.all(Array.from({ length: 50 }, () => running.refresh(refreshToken)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    const answers = await Promise.all(responses.map(async (response) => tokensOf(await response.json())));
    const successors = new Set(answers.map((answer) => answer.refreshToken));
    expect(successors.size).toBe(1);
    const [successor = ''] = successors;
    expect(await running.isActive(successor)).toBe(true);
    expect(await running.isActive(refreshToken)).toBe(false);
  });

  it('expires after its idle time, which each refresh restarts', async () => {
    const at = 'brief/desktop';
    let { refreshToken } = await running.tokensFor({}, at);
    for (let round = 0; round < 3; round += 1) {
      clock.advance({ seconds: 119 });
      ({ refreshToken } = tokensOf(await (await running.refresh(refreshToken, {}, at)).json()));
    }
    clock.advance({ seconds: 120 });
    expect(await refusalOf(await running.refresh(refreshToken, {}, at))).toEqual(refused('invalid_grant'));
  });

  it('expires with the other tokens twelve hours after the launch, however often it is refreshed', async () => {
    const launch = await running.launchFor();
    const startedAt = clock.now() / 1000;
    clock.advance({ seconds: 100 });
    const fields = await running.codeFor({}, { launch });
    let tokens = tokensOf(await (await running.postToken(fields)).json());
    for (let hour = 1; hour < 12; hour += 1) {
      clock.advance({ seconds: 3600 });
      const answer = record(await (await running.refresh(tokens.refreshToken)).json());
      tokens = tokensOf(answer);
      const expiresIn = Math.min(3600, startedAt + 12 * 3600 - clock.now() / 1000);
      expect([hour, answer.expires_in]).toEqual([hour, expiresIn]);
      for (const token of [tokens.accessToken, tokens.idToken]) {
        expect(decodeJwt(token).exp).toBe(clock.now() / 1000 + expiresIn);
      }
    }
    expect(await running.isActive(tokens.refreshToken)).toBe(true);
    clock.advance({ seconds: 3500 });
    expect(await refusalOf(await running.refresh(tokens.refreshToken))).toEqual(refused('invalid_grant'));
    for (const token of [tokens.refreshToken, tokens.accessToken]) {
      expect(await running.isActive(token)).toBe(false);
    }
  });

  it.each([
    [realm, 8 * 3600],
    ['brief/desktop', 120],
  ])('of the realm %s expires if it is not used within %d seconds', async (at, seconds) => {
    const [inTime, late] = [await running.tokensFor({}, at), await running.tokensFor({}, at)];
    clock.advance({ seconds: seconds - 1 });
    expect((await running.refresh(inTime.refreshToken, {}, at)).status).toBe(200);
    clock.advance({ seconds: 1 });
    expect(await refusalOf(await running.refresh(late.refreshToken, {}, at))).toEqual(
      refused('invalid_grant'),
    );
  });

  it('expires when the sessionSeconds of its realm have passed since the launch identifier was issued', async () => {
    const at = 'shift/desktop';
    const { refreshToken } = await running.tokensFor({}, at);
    clock.advance({ seconds: 599 });
    const next = tokensOf(await (await running.refresh(refreshToken, {}, at)).json());
    clock.advance({ seconds: 1 });
    expect(await refusalOf(await running.refresh(next.refreshToken, {}, at))).toEqual(
      refused('invalid_grant'),
    );
  });

  it.each([
    ['another client', realm, { client_id: 'partner-standard' }],
    ['another realm', 'south/desktop', { client_id: 'partner' }],
  ])('is refused for %s, and stays usable', async (_who, at, fields) => {
    const { refreshToken } = await running.tokensFor();
    expect(await refusalOf(await running.refresh(refreshToken, fields, at))).toEqual(
      refused('invalid_grant'),
    );
    expect((await running.refresh(refreshToken, { client_id: 'partner' })).status).toBe(200);
    // A used refresh token is refused too, although its client would get the same successor
    // again for ten seconds.
    expect(await refusalOf(await running.refresh(refreshToken, fields, at))).toEqual(
      refused('invalid_grant'),
    );
  });

  it('is refused with a wider scope than granted, and stays usable', async () => {
    const fields = { ...(await running.codeFor({ scope: 'openid' })), scope: 'openid' };
    const { refreshToken } = tokensOf(await (await running.postToken(fields)).json());
    const wide = await running.refresh(refreshToken, { scope: 'openid launch' });
    expect(await refusalOf(wide)).toEqual(refused('invalid_scope'));
    expect((await running.refresh(refreshToken)).status).toBe(200);
  });
});
