import { randomUUID } from 'node:crypto';
import { createLogger } from '@clinical-launch/service';
import { openTicketParts, readSharedEventKeys, type TicketParts } from '@clinical-launch/service/process';
import type { Storage } from '@clinical-launch/storage';
import { openTestStorage, TestClock } from '@clinical-launch/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  authorizeFields,
  aVerifier,
  type RunningDesktop,
  refusalOf,
  refused,
  runDesktop,
  tokensOf,
} from './running-desktop.ts';
import { deploymentSealer, record } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let parts: TicketParts;
let running: RunningDesktop;
beforeAll(async () => {
  const REDIS_URL = process.env.TEST_REDIS_URL;
  if (REDIS_URL === undefined) throw new Error('TEST_REDIS_URL is not set: run the tests by `npm test`');
  storage = await openTestStorage();
  parts = await openTicketParts({
    environment: { REDIS_URL, REDIS_PREFIX: `test-${randomUUID()}:` },
    clock,
    logger: createLogger({ level: 'silent' }),
    eventKeys: readSharedEventKeys({}),
    name: 'test',
    sealers: { desktop: deploymentSealer },
  });
  // Two replicas: the second knows a chain only from Redis.
  running = await runDesktop({
    clock,
    storage,
    replicas: 2,
    tickets: parts.tickets,
    events: parts.outbox,
  });
});
afterAll(async () => {
  await running.stop();
  await parts.stop();
  await storage.close();
});

describe('a desktop launch on Redis', () => {
  it('goes from launch identifier to tokens, and on by refresh at another replica', async () => {
    const { refreshToken } = await running.tokensFor();
    const [other] = running.others;
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const response = await other?.postForm('/north/desktop/oauth2/v2.0/token', form);
    const { accessToken } = tokensOf(await response?.json());
    expect(await running.isActive(accessToken)).toBe(true);
  });

  it('is pushed at one replica and authorized at another, once of many times at once', async () => {
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

  it('ends what a code gave when the code is replayed', async () => {
    const fields = await running.codeFor();
    const tokens = tokensOf(await (await running.postToken(fields)).json());
    expect(await refusalOf(await running.postToken(fields))).toEqual(refused('invalid_grant'));
    for (const token of [tokens.accessToken, tokens.refreshToken]) {
      expect(await running.isActive(token)).toBe(false);
    }
  });

  it('leaves one live successor of fifty simultaneous refreshes, at two replicas', async () => {
    const { refreshToken } = await running.tokensFor();
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const replicas = [running.idp, ...running.others];
    const asked = Array.from({ length: 25 }, () => replicas).flat();
    const responses = await Promise.all(
      asked.map((replica) => replica.postForm('/north/desktop/oauth2/v2.0/token', form)),
    );
    const answers = await Promise.all(responses.map(async (response) => tokensOf(await response.json())));
    const successors = new Set(answers.map((answer) => answer.refreshToken));
    expect([responses.every(({ ok }) => ok), successors.size]).toEqual([true, 1]);
    const [successor = ''] = successors;
    expect((await running.refresh(successor)).status).toBe(200);
  });

  it('is ended by its host at another replica, by its launch identifier', async () => {
    const launch = await running.launchFor();
    const fields = await running.codeFor({}, { launch });
    const { accessToken } = tokensOf(await (await running.postToken(fields)).json());
    const [other] = running.others;
    const authorization = `Bearer ${await running.hostToken()}`;
    const init = { method: 'DELETE', headers: { authorization } };
    expect((await other?.get(`/north/desktop/launches/${launch}`, init))?.status).toBe(204);
    expect(await running.isActive(accessToken)).toBe(false);
  });

  it('is revoked for every replica', async () => {
    const { refreshToken, accessToken } = await running.tokensFor();
    const [other] = running.others;
    const ended = await other?.postForm('/north/desktop/oauth2/v2.0/revoke', { token: accessToken });
    expect(ended?.status).toBe(200);
    expect(await running.isActive(accessToken)).toBe(false);
    expect((await running.refresh(refreshToken)).status).toBe(400);
  });
});
