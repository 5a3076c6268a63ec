import { randomUUID } from 'node:crypto';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aLaunch,
  authorizeFields,
  aVerifier,
  realm,
  refusalOf,
  refused,
  tokensOf,
} from './running-desktop.ts';
import { runHosts } from './running-hosts.ts';
import { record } from './running-identity-provider.ts';

const clock = new TestClock();
let running: Awaited<ReturnType<typeof runHosts>>;
beforeAll(async () => {
  running = await runHosts(clock);
});
afterAll(() => running.stop());

/** Each test has its own user. */
let user: string;
beforeEach(() => {
  user = `ern:user:${randomUUID()}`;
});

type Asking = { readonly at?: string; readonly token?: string; readonly type?: string };

const post = async (body: unknown, { at = realm, token, type = 'application/json' }: Asking = {}) =>
  running.idp.get(`/${at}/launches/_end`, {
    method: 'POST',
    headers: {
      'content-type': type,
      authorization: `Bearer ${token ?? (await running.hostToken())}`,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Ends launches, and returns their number. */
async function end(body: unknown, asking?: Asking): Promise<unknown> {
  const response = await post(body, asking);
  expect(response.status).toBe(200);
  return record(await response.json()).ended;
}

type Launching = {
  readonly ods?: string;
  readonly partner?: string;
  readonly at?: string;
  readonly token?: string;
};

/** Starts a launch of `user`. Returns the GUID and the launch identifier that the host received. */
async function startLaunch({ ods = 'W92001', partner = 'partner', at = realm, token }: Launching = {}) {
  const { user: person, organisation } = aLaunch();
  const launched = aLaunch({
    client_id: partner,
    user: { ...person, userERN: user },
    organisation: { ...organisation, ods },
  });
  const response = await running.postLaunch(launched, token === undefined ? { at } : { at, token });
  const launch = String(record(await response.json()).launch);
  return { launch, guid: response.headers.get('x-correlation-id') ?? '' };
}

async function startTokens(launching: Launching = {}) {
  const { at = realm, partner: client_id = 'partner' } = launching;
  const started = await startLaunch(launching);
  const fields = await running.codeFor({ client_id }, { launch: started.launch, at });
  const tokens = tokensOf(await (await running.postToken(fields, at)).json());
  return {
    ...started,
    tokens,
    isActive: async () => (await running.introspect(tokens.accessToken, at)).active,
  };
}

const activeOf = (...launches: { readonly isActive: () => Promise<unknown> }[]) =>
  Promise.all(launches.map(({ isActive }) => isActive()));

const revocationsOf = (guid: string) =>
  running.eventsOf(guid).filter(({ type }) => type === 'desktop.chain.revoked.v1');

const authorizeWith = (launch: string) =>
  running.postAuthorize(authorizeFields({ launch, challenge: aVerifier().challenge }));

describe('POST /{seg1}/{seg2}/launches/_end', () => {
  it('ends every launch of a user at once: its tokens, its code and its launch identifier', async () => {
    const [first, second] = [await startTokens(), await startTokens({ partner: 'partner-standard' })];
    const unopened = await startLaunch();
    const code = await running.codeFor({}, await startLaunch());
    expect(await end({ user })).toBe(4);
    for (const { tokens } of [first, second]) {
      expect(await running.isActive(tokens.refreshToken)).toBe(false);
      expect(await running.isActive(tokens.accessToken)).toBe(false);
      const client_id = tokens === first.tokens ? 'partner' : 'partner-standard';
      const refreshed = await running.refresh(tokens.refreshToken, { client_id });
      expect(await refusalOf(refreshed)).toEqual(refused('invalid_grant'));
    }
    expect(await refusalOf(await running.postToken(code))).toEqual(refused('invalid_grant'));
    expect(await refusalOf(await authorizeWith(unopened.launch))).toEqual(refused('invalid_request'));
  });

  it('publishes an event with the host, the selection and the reason, and an event with the reason for each launch', async () => {
    const { guid } = await startTokens();
    const response = await post({ user, practice: 'W92001', reason: 'INC-7: lost laptop' });
    expect(await response.json()).toEqual({ ended: 1 });
    const because = { realm, statedReason: 'INC-7: lost laptop', address: '127.0.0.1' };
    const [run] = running.eventsOf(response.headers.get('x-correlation-id') ?? '');
    expect(run).toMatchObject({ type: 'launches.ended.v1', source: '/identity-provider' });
    expect(run?.data).toEqual({
      ...because,
      issuer: running.issuer('north'),
      clientId: 'host',
      selection: { user, practice: 'W92001' },
    });
    const [revocation] = revocationsOf(guid);
    expect(revocation?.data).toEqual({ ...because, reason: 'ended_by_host' });
    expect(revocation?.traceparent.slice(3, 35)).toBe(run?.traceparent.slice(3, 35));
  });

  it('leaves the launches of other users, hosts and realms active', async () => {
    const own = await startTokens();
    const others = [
      await startTokens({ token: await running.hostToken('neighbour') }),
      await startTokens({ token: await running.namesakeToken() }),
      await startTokens({ at: 'south/desktop' }),
    ];
    const owner = user;
    user = `${user}:more`;
    others.push(await startTokens());
    expect(await end({ user: owner })).toBe(1);
    expect(await activeOf(own, ...others)).toEqual([false, true, true, true, true]);
    for (const { guid } of others) expect(revocationsOf(guid)).toEqual([]);
  });

  it('compares the user in any case, and ends only launches that match every selector', async () => {
    const ods = randomUUID();
    const [first, second, third] = [
      await startTokens({ ods: 'A1' }),
      await startTokens({ ods }),
      await startTokens({ ods, partner: 'partner-standard' }),
    ];
    expect(await end({ user: user.toUpperCase(), practice: 'A1', partner: 'partner-standard' })).toBe(0);
    for (const text of ['*', '%', `${user} practice A1`, "' or '1'='1"])
      expect(await end({ user: text })).toBe(0);
    expect(await end({ practice: ods, partner: 'partner-standard' })).toBe(1);
    expect(await activeOf(first, second, third)).toEqual([true, true, false]);
    expect(await end({ practice: ods })).toBe(1);
    expect(await activeOf(first, second)).toEqual([true, false]);
    expect(await end({ user: user.toUpperCase(), partner: 'partner' })).toBe(1);
    expect(await first.isActive()).toBe(false);
  });

  it('ends nothing twice, stores no second event for a launch, and leaves later launches active', async () => {
    const { guid, tokens } = await startTokens();
    const endedBefore = await startLaunch();
    const authorization = `Bearer ${await running.hostToken()}`;
    const path = `/${realm}/launches/${endedBefore.guid}`;
    await running.idp.get(path, { method: 'DELETE', headers: { authorization } });
    expect(await end({ user })).toBe(1);
    const later = await startTokens();
    clock.advance({ seconds: 1 });
    expect(await running.isActive(tokens.accessToken)).toBe(false);
    expect(await later.isActive()).toBe(true);
    expect(await end({ user })).toBe(1);
    expect(await end({ user })).toBe(0);
    for (const id of [guid, endedBefore.guid, later.guid]) expect(revocationsOf(id)).toHaveLength(1);
  });

  it('does not count launches that have reached their absolute end', async () => {
    await startTokens();
    clock.advance({ seconds: 12 * 3600 + 1 });
    expect(await end({ user })).toBe(0);
  });

  it('ends many launches, each with an event', async () => {
    const started = await Promise.all(Array.from({ length: 250 }, () => startLaunch()));
    expect(await end({ user })).toBe(250);
    expect(started.filter(({ guid }) => revocationsOf(guid).length !== 1)).toEqual([]);
  });

  it('ends a launch whose refresh token is being used at the same time', async () => {
    const { tokens } = await startTokens();
    const ending = end({ user });
    let { refreshToken } = tokens;
    let response = await running.refresh(refreshToken);
    while (response.status === 200) {
      const next = tokensOf(await response.json());
      refreshToken = next.refreshToken;
      response = await running.refresh(refreshToken);
    }
    expect(await refusalOf(response)).toEqual(refused('invalid_grant'));
    expect(await ending).toBe(1);
    expect(await running.isActive(refreshToken)).toBe(false);
  });

  it.each([
    ['no selector', { reason: 'INC-7' }, ['']],
    ['an unknown member', { user: 'Bhriain', everyone: true }, ['']],
    [
      'selectors that are no text',
      { user: ['Bhriain'], practice: 7, partner: null },
      ['user', 'practice', 'partner'],
    ],
    ['an empty selector', { practice: '' }, ['practice']],
    ['texts that are too long', { user: 'B'.repeat(201), reason: 'r'.repeat(101) }, ['user', 'reason']],
    ['text of several lines', { user: 'Bhriain\nBhriain' }, ['user']],
    ['text that the audit trail cannot store', { user: 'Bhriain\u0000' }, ['user']],
    ['a list', [{ user: 'Bhriain' }], ['']],
    ['a selector twice', '{"user":"Bhriain","user":"b"}', ['']],
    ['no JSON', '{', ['']],
  ])('refuses a body with %s without repeating its values, and ends nothing', async (_what, body, paths) => {
    const { isActive } = await startTokens();
    const before = running.published.length;
    const response = await post(body);
    const answer = record(await response.json());
    expect([response.status, answer.error]).toEqual([400, 'invalid_request']);
    const faults = (answer.errors ?? []) as { path: string }[];
    expect(faults.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
    expect(JSON.stringify([answer, running.lines, running.published.slice(before)])).not.toContain('Bhriain');
    const events = running.published.slice(before).filter(({ type }) => type.startsWith('desktop.'));
    expect(events).toEqual([expect.objectContaining({ type: 'desktop.launch.refused.v1' })]);
    expect(events[0]?.data).toMatchObject({ step: 'end', status: 400, hostClientId: 'host' });
    expect(await isActive()).toBe(true);
  });

  it('refuses a large body, a form and other methods', async () => {
    expect((await post({ user, reason: 'x'.repeat(9000) })).status).toBe(413);
    expect((await post(`user=${user}`, { type: 'application/x-www-form-urlencoded' })).status).toBe(415);
    for (const method of ['GET', 'DELETE']) {
      const other = await running.idp.get(`/${realm}/launches/_end`, { method });
      expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
    }
    expect((await post({ user }, { at: 'north' })).status).toBe(404);
  });

  it.each([
    ['a token without the right', 403, async () => running.hostToken('resource-server')],
    ["another issuer's right", 403, async () => running.stranger.sign({ claims: { scope: 'launch.issue' } })],
    ['an invalid token', 401, async () => 'a.b.c'],
  ])('refuses and audits a request with %s', async (_what, status, token) => {
    const { isActive } = await startTokens();
    const before = running.published.length;
    expect((await post({ user }, { token: await token() })).status).toBe(status);
    expect(await isActive()).toBe(true);
    const published = running.published.slice(before);
    expect(published.filter(({ type }) => type === 'launches.ended.v1')).toEqual([]);
    expect(published).toContainEqual(
      expect.objectContaining({
        type: 'desktop.launch.refused.v1',
        data: expect.objectContaining({ step: 'end', status }),
      }),
    );
  });
});
