import { randomUUID } from 'node:crypto';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

const end = async (id: string, { at = realm, token }: { at?: string; token?: string } = {}) =>
  running.idp.get(`/${at}/launches/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token ?? (await running.hostToken())}` },
  });

/** Starts a launch. Returns the GUID and the launch identifier that the host received. */
async function startLaunch() {
  const response = await running.postLaunch(aLaunch());
  const launch = String(record(await response.json()).launch);
  return { launch, guid: response.headers.get('x-correlation-id') ?? '' };
}

async function startTokens() {
  const started = await startLaunch();
  const fields = await running.codeFor({}, { launch: started.launch });
  return { ...started, tokens: tokensOf(await (await running.postToken(fields)).json()) };
}

const revocationsOf = (guid: string) =>
  running.eventsOf(guid).filter(({ type }) => type === 'desktop.chain.revoked.v1');

const authorizeWith = (launch: string) =>
  running.postAuthorize(authorizeFields({ launch, challenge: aVerifier().challenge }));

describe('DELETE /{seg1}/{seg2}/launches/{id}', () => {
  it.each([
    ['GUID', 'guid'],
    ['launch identifier', 'launch'],
  ] as const)('revokes every token of a launch, given its %s', async (_title, name) => {
    const started = await startTokens();
    const response = await end(started[name]);
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('x-correlation-id')).toBe(started.guid);
    for (const token of [started.tokens.accessToken, started.tokens.refreshToken]) {
      expect(await running.isActive(token)).toBe(false);
    }
    expect(await refusalOf(await running.refresh(started.tokens.refreshToken))).toEqual(
      refused('invalid_grant'),
    );
    expect(revocationsOf(started.guid)).toEqual([
      expect.objectContaining({ data: { realm, reason: 'ended_by_host', address: '127.0.0.1' } }),
    ]);
  });

  it.each([
    ['GUID', 'guid'],
    ['launch identifier', 'launch'],
  ] as const)('ends an unopened launch, given its %s', async (_title, name) => {
    const started = await startLaunch();
    expect((await end(started[name])).status).toBe(204);
    expect(await refusalOf(await authorizeWith(started.launch))).toEqual(refused('invalid_request'));
    clock.advance({ seconds: 200 });
    expect((await authorizeWith(started.launch)).status).toBe(400);
  });

  it('revokes an unredeemed code', async () => {
    const { launch, guid } = await startLaunch();
    const fields = await running.codeFor({}, { launch });
    expect((await end(guid)).status).toBe(204);
    expect(await refusalOf(await running.postToken(fields))).toEqual(refused('invalid_grant'));
  });

  it('answers 204 to repeated requests until the launch expires, and publishes only one event', async () => {
    const { guid, launch } = await startTokens();
    for (const id of [guid, launch, guid.toUpperCase(), guid]) expect((await end(id)).status).toBe(204);
    clock.advance({ seconds: 11 * 3600 });
    expect((await end(guid)).status).toBe(204);
    expect(revocationsOf(guid)).toHaveLength(1);
    clock.advance({ seconds: 3600 });
    expect(await refusalOf(await end(guid))).toEqual(refused('not_found', 404));
  });

  it("answers 404 for another host's launch, as for an unknown launch, and leaves the launch active", async () => {
    const { guid, launch, tokens } = await startTokens();
    for (const token of [await running.hostToken('neighbour'), await running.namesakeToken()]) {
      for (const id of [guid, launch, randomUUID(), launch.slice(0, -2), 'nonsense']) {
        const response = await end(id, { token });
        expect(response.headers.get('x-correlation-id')).not.toBe(guid);
        expect(await refusalOf(response)).toEqual(refused('not_found', 404));
      }
    }
    expect((await end(guid, { at: 'south/desktop' })).status).toBe(404);
    expect(await running.isActive(tokens.accessToken)).toBe(true);
    expect(revocationsOf(guid)).toEqual([]);
  });

  it.each([
    ['a token without the right', 403, async () => running.hostToken('resource-server')],
    ["another issuer's right", 403, async () => running.stranger.sign({ claims: { scope: 'launch.issue' } })],
    ['an invalid token', 401, async () => 'a.b.c'],
  ])('refuses and audits a request with %s', async (_what, status, token) => {
    const { guid, tokens } = await startTokens();
    const before = running.published.length;
    expect((await end(guid, { token: await token() })).status).toBe(status);
    expect(await running.isActive(tokens.accessToken)).toBe(true);
    expect(running.published.slice(before)).toContainEqual(
      expect.objectContaining({
        type: 'desktop.launch.refused.v1',
        data: expect.objectContaining({ step: 'end', status }),
      }),
    );
  });

  it('answers 405 to other methods, and leaves the launch identifier out of logs and events', async () => {
    const { launch } = await startLaunch();
    const other = await running.idp.get(`/${realm}/launches/${launch}`);
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'DELETE']);
    for (const token of ['a.b.c', await running.hostToken('neighbour'), undefined]) {
      await end(launch, token === undefined ? {} : { token });
    }
    const recorded = [...running.lines, ...running.published.map((event) => JSON.stringify(event))];
    expect(recorded.filter((line) => line.includes('/launches/:id')).length).toBeGreaterThan(3);
    expect(recorded.filter((line) => line.includes(launch))).toEqual([]);
  });
});
