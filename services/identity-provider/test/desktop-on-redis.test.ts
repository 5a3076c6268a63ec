import { randomUUID } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage/storage';
import { makeDpopProof } from '@clinical-launch/testing/dpop-proof';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createTestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  authorizeFields,
  aVerifier,
  type RunningDesktop,
  refusalOf,
  refused,
  tokenFields,
  tokensOf,
} from './running-desktop.ts';
import { runDesktopOnRedis } from './running-desktop-on-redis.ts';
import { record } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let running: Awaited<ReturnType<typeof runDesktopOnRedis>>;
const prefix = `test-${randomUUID()}:`;
beforeAll(async () => {
  const url = process.env.TEST_REDIS_URL;
  if (url === undefined) throw new Error('TEST_REDIS_URL is not set: run the tests by `npm test`');
  storage = await openTestStorage();
  running = await runDesktopOnRedis({ clock, storage, url, prefix });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

/**
 * Returns a function that pushes the same request of a launch each time. The function returns the reference
 * to the pushed request.
 */
async function pushesOf(launch: string) {
  const fields = authorizeFields({ launch, challenge: aVerifier().challenge });
  const response = (replica = running.idp) => replica.postForm('/north/desktop/oauth2/v2.0/par', fields);
  const push = async (replica = running.idp) => {
    const { request_uri } = record(await (await response(replica)).json());
    return { client_id: 'partner', request_uri: String(request_uri) };
  };
  return Object.assign(push, { response });
}

const authorize = (reference: { client_id: string; request_uri: string }) => running.postAuthorize(reference);
const lastReason = () => record(running.published.at(-1)?.data).reason;

/** Returns the names of all Redis keys of this test. */
const everyKey = async () => (await running.redis.keys(`${prefix}*`)).toSorted();
const livePushes = async () =>
  (await everyKey()).filter((key) => key.includes(':ticket:pushed-request:')).length;

describe('a desktop launch on Redis', () => {
  it('gets tokens at one replica and refreshes them at another replica', async () => {
    const { refreshToken } = await running.tokensFor();
    const [other] = running.others;
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const response = await other?.postForm('/north/desktop/oauth2/v2.0/token', form);
    const { accessToken } = tokensOf(await response?.json());
    expect(await running.isActive(accessToken)).toBe(true);
  });

  it('can push a request at one replica; concurrent requests at all replicas authorize the pushed request only once', async () => {
    const { challenge } = aVerifier();
    const fields = authorizeFields({ launch: await running.launchFor(), challenge });
    const pushed = await running.idp.postForm('/north/desktop/oauth2/v2.0/par', fields);
    const { request_uri } = record(await pushed.json());
    const query = new URLSearchParams({ client_id: 'partner', request_uri: String(request_uri) }).toString();
    const authorize = async (replica: RunningDesktop['idp']) =>
      replica.get(`/north/desktop/oauth2/v2.0/authorize?${query}`, { redirect: 'manual' });
    const replicas = Array.from({ length: 10 }, () => [running.idp, ...running.others]).flat();
    const answers = await Promise.all(replicas.map(authorize));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
  });

  it('has only one valid pushed request: the newest', async () => {
    const push = await pushesOf(await running.launchFor());
    const [older, newer] = [await push(), await push()];
    expect(await refusalOf(await authorize(older))).toEqual(refused('invalid_request_uri'));
    expect(lastReason()).toBe('unknown_request_uri');
    expect((await authorize(newer)).status).toBe(302);
  });

  it('has only one valid pushed request after concurrent pushes at two replicas', async () => {
    const push = await pushesOf(await running.launchFor());
    const before = await livePushes();
    const replicas = [running.idp, ...running.others];
    const references = await Promise.all(Array.from({ length: 5 }, () => replicas.map(push)).flat());
    expect((await livePushes()) - before).toBe(1);
    const answers = await Promise.all(references.map((reference) => authorize(reference)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
  });

  it('may push ten requests a minute across all replicas, and the eleventh is answered with 429', async () => {
    const push = await pushesOf(await running.launchFor());
    const replicas = [running.idp, ...running.others];
    const references = await Promise.all(Array.from({ length: 5 }, () => replicas.map(push)).flat());
    const stored = await everyKey();
    const response = await push.response();
    expect(await refusalOf(response)).toEqual(refused('too_many_requests', 429));
    const waitSeconds = Number(response.headers.get('retry-after'));
    expect(waitSeconds >= 1 && waitSeconds <= 60).toBe(true);
    expect(await everyKey()).toEqual(stored);
    const answers = await Promise.all(references.map((reference) => authorize(reference)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
  });

  it('stores nothing for a push with an unknown launch identifier', async () => {
    const real = await running.launchFor();
    const stored = await everyKey();
    for (const launch of [`${real.slice(0, -4)}AAAA`, `00${'A'.repeat(87)}`, 'invented'])
      expect((await (await pushesOf(launch)).response()).status).toBe(400);
    expect(await everyKey()).toEqual(stored);
  });

  it('stores no DPoP proof of a refused request', async () => {
    const key = await createTestKey('stranger');
    const proofFor = (endpoint: string) =>
      makeDpopProof({
        key,
        clock,
        method: 'POST',
        url: `${running.url}/idp/north/desktop/oauth2/v2.0/${endpoint}`,
      });
    const real = await running.tokensFor();
    const guessed = `${real.refreshToken.slice(0, -4)}AAAA`;
    const stored = await everyKey();
    for (const form of [
      { grant_type: 'refresh_token', refresh_token: 'x' },
      { grant_type: 'refresh_token', refresh_token: guessed },
      tokenFields({ code: guessed, verifier: aVerifier().verifier }),
    ]) {
      const { status } = await running.postToken(form, 'north/desktop', { DPoP: await proofFor('token') });
      expect(status).toBe(400);
    }
    const unknown = authorizeFields({ launch: guessed, challenge: aVerifier().challenge });
    const path = '/north/desktop/oauth2/v2.0/par';
    const pushed = await running.idp.postForm(path, unknown, { DPoP: await proofFor('par') });
    expect(pushed.status).toBe(400);
    expect(await everyKey()).toEqual(stored);
    const DPoP = await proofFor('token');
    const used = await running.refresh(real.refreshToken, {}, 'north/desktop');
    expect(used.status).toBe(200);
    const { refreshToken } = tokensOf(await used.json());
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    expect((await running.postToken(form, 'north/desktop', { DPoP })).status).toBe(200);
    expect((await everyKey()).filter((name) => name.includes(':presented:'))).toHaveLength(1);
  });

  it('can be ended by its host at another replica with the launch identifier', async () => {
    const launch = await running.launchFor();
    const fields = await running.codeFor({}, { launch });
    const { accessToken } = tokensOf(await (await running.postToken(fields)).json());
    const [other] = running.others;
    const authorization = `Bearer ${await running.hostToken()}`;
    const init = { method: 'DELETE', headers: { authorization } };
    expect((await other?.get(`/north/desktop/launches/${launch}`, init))?.status).toBe(204);
    expect(await running.isActive(accessToken)).toBe(false);
  });
});
