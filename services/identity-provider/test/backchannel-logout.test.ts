import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Storage } from '@clinical-launch/storage/storage';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { productionRegistryProblems } from '@clinical-launch/trust/production-registry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { createLogouts } from '../src/store/logouts.ts';
import { openSchema } from '../src/store/tables.ts';
import {
  aLaunch,
  aPartner,
  chainOf,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  runDesktop,
  tokensOf,
} from './running-desktop.ts';
import { record, registryOf } from './running-identity-provider.ts';

const at = 'logout/desktop';
const clock = new TestClock();

type Receiver = Awaited<ReturnType<typeof startReceiver>>;
let storage: Storage;
let receiver: Receiver;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  receiver = await startReceiver();
  const partnerWithLogout = (clientId: string, path = '/logout') =>
    aPartner({
      clientId,
      profile: 'standard',
      backchannelLogoutUri: `http://127.0.0.1:${receiver.port}${path}`,
    });
  const desktop = {
    partners: [
      partnerWithLogout('notified'),
      partnerWithLogout('other', '/other'),
      aPartner({ clientId: 'unnotified' }),
    ],
  };
  const realms = [...desktopRealms(), { realm: at, clients: [], desktop }];
  // Two replicas poll for due deliveries, but each token must arrive once.
  running = await runDesktop({ clock, storage, realms, replicas: 2 });
});
afterAll(async () => {
  await running.stop();
  await receiver.stop();
  await storage.close();
});

type Received = { readonly path: string; readonly type: string | undefined; readonly token: string };

/**
 * Starts the endpoint of a partner application, which records requests and answers with the given statuses.
 */
async function startReceiver(port?: number) {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const answers: number[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const token = new URLSearchParams(body).get('logout_token') ?? '';
      received.push({ path: request.url ?? '', type: request.headers['content-type'], token });
      response.writeHead(answers.shift() ?? 200).end();
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(port ?? 0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    /** Sets the statuses of the next answers. Later answers have the status 200. */
    answer: (...statuses: number[]) => void answers.push(...statuses),
    /** Waits for `count` requests about a launch and returns them. */
    about: (launch: string, count = 1) =>
      new Promise<Received[]>((resolve) => {
        const look = () => {
          const found = received.filter(({ token }) => decodeJwt(token).sid === launch);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Waits until the service has published a matching event about a launch. */
async function eventOf(launch: string, type: string, matching: Record<string, unknown> = {}) {
  for (;;) {
    const found = running
      .eventsOf(launch)
      .find(
        (event) =>
          event.type === type &&
          Object.entries(matching).every(([name, value]) => record(event.data)[name] === value),
      );
    if (found !== undefined) return record(found.data);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function startTokens(client_id = 'notified') {
  const fields: Fields = await running.codeFor({ client_id }, { at });
  const tokens = tokensOf(await (await running.postToken(fields, at)).json());
  return { fields, tokens, launch: chainOf(tokens) };
}
const end = async (launch: string) =>
  running.idp.get(`/${at}/launches/${launch}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${await running.hostToken()}` },
  });
/** Waits until the log contains a line with these words about a launch. */
async function logged(launch: string, words: string) {
  while (!running.lines.some((line) => line.includes(launch) && line.includes(words)))
    await new Promise((resolve) => setImmediate(resolve));
}
const settled = (launch: string) => eventOf(launch, 'desktop.logout.delivered.v1');

async function verifiedBy(token: string, clientId = 'notified'): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet(await running.idp.keySet(at)),
    {
      issuer: running.issuer(at),
      audience: clientId,
      typ: 'logout+jwt',
      algorithms: ['RS256'],
      currentDate: new Date(clock.now()),
      requiredClaims: ['iat', 'exp', 'jti', 'sid', 'events'],
    },
  );
  expect(protectedHeader.kid).toEqual(expect.any(String));
  return payload;
}

describe('a launch ended by its host', () => {
  it('results in a signed logout token with the same sid as the ID token', async () => {
    const { tokens, launch } = await startTokens();
    expect((await end(launch)).status).toBe(204);
    const [{ path, type, token } = { path: '', type: '', token: '' }] = await receiver.about(launch);
    expect([path, type]).toEqual(['/logout', 'application/x-www-form-urlencoded']);
    const claims = await verifiedBy(token);
    expect(claims.sid).toBe(decodeJwt(tokens.idToken).sid);
    // The token has no other claims: no nonce (section 2.4), no user and no patient.
    expect(claims).toEqual({
      iss: running.issuer(at),
      aud: 'notified',
      iat: clock.now() / 1000,
      exp: clock.now() / 1000 + 120,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sid: launch,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(await settled(launch)).toEqual({ realm: at, clientId: 'notified', attempts: 1 });
  });
});

describe('one request of a host that ends several launches of a partner', () => {
  it('causes one logout token for each launch', async () => {
    const launches = [await startTokens(), await startTokens()].map(({ launch }) => launch);
    const response = await running.idp.get(`/${at}/launches/_end`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await running.hostToken()}`,
      },
      body: JSON.stringify({ partner: 'notified' }),
    });
    expect(await response.json()).toEqual({ ended: 2 });
    for (const launch of launches) {
      await settled(launch);
      const received = await receiver.about(launch);
      expect(received.map(({ path }) => path)).toEqual(['/logout']);
    }
  });
});

describe('a logout token', () => {
  it('is sent to the partner of the launch if the code was replayed, even by another partner', async () => {
    const { fields, launch } = await startTokens();
    await running.postToken({ ...fields, client_id: 'other' }, at);
    const [{ path, token } = { path: '', token: '' }] = await receiver.about(launch);
    expect(path).toBe('/logout');
    expect((await verifiedBy(token)).aud).toBe('notified');
  });

  it('is sent if five wrong code verifiers revoked the launch', async () => {
    const response = await running.postLaunch(aLaunch({ client_id: 'other' }), { at });
    const launch = response.headers.get('x-correlation-id') ?? '';
    const identifier = String(record(await response.json()).launch);
    const fields = await running.codeFor({ client_id: 'other' }, { at, launch: identifier });
    for (let guess = 0; guess < 5; guess += 1)
      await running.postToken({ ...fields, code_verifier: 'v'.repeat(43) }, at);
    const [{ path } = { path: '' }] = await receiver.about(launch);
    expect(path).toBe('/other');
  });

  it('is sent if a refresh token was replayed', async () => {
    const { tokens, launch } = await startTokens();
    await running.refresh(tokens.refreshToken, {}, at);
    clock.advance({ seconds: 60 });
    await running.refresh(tokens.refreshToken, {}, at);
    expect(await receiver.about(launch)).toHaveLength(1);
  });

  it('is not sent if the partner itself revoked the launch or has no logout address', async () => {
    const [own, unnotified, last] = [
      await startTokens(),
      await startTokens('unnotified'),
      await startTokens(),
    ];
    const revocation = { token: own.tokens.refreshToken, client_id: 'notified' };
    expect((await running.idp.postForm(`/${at}/oauth2/v2.0/revoke`, revocation)).status).toBe(200);
    // Ending a revoked launch does nothing.
    expect((await end(own.launch)).status).toBe(204);
    await end(unnotified.launch);
    await end(last.launch);
    await settled(last.launch);
    const sessions = receiver.received.map(({ token }) => decodeJwt(token).sid);
    expect(sessions.filter((sid) => sid === own.launch || sid === unnotified.launch)).toEqual([]);
  });

  it('is sent once, even if the event of the revocation is delivered twice', async () => {
    const { launch } = await startTokens();
    await end(launch);
    await settled(launch);
    const revoked = running.eventsOf(launch).filter(({ type }) => type === 'desktop.chain.revoked.v1');
    await running.bus.publish(revoked);
    const next = await startTokens();
    await end(next.launch);
    await settled(next.launch);
    expect(await receiver.about(launch)).toHaveLength(1);
  });
});

describe('a refused logout token', () => {
  const failed = 'desktop.logout.delivery.failed.v1';

  it('is sent again with another jti until the partner accepts it', async () => {
    receiver.answer(500, 503);
    const { launch } = await startTokens();
    await end(launch);
    expect(await eventOf(launch, failed)).toMatchObject({ status: 500, attempts: 1, isFinal: false });
    clock.advance({ seconds: 6 });
    await receiver.about(launch, 2);
    await logged(launch, '"attempts":2');
    clock.advance({ seconds: 60 });
    const tokens = (await receiver.about(launch, 3)).map(({ token }) => token);
    expect(await settled(launch)).toMatchObject({ attempts: 3 });
    expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(3);
    await verifiedBy(tokens[2] ?? '');
  });

  it('is not sent again if the partner answers 410, and an error is logged', async () => {
    receiver.answer(410);
    const { launch } = await startTokens();
    await end(launch);
    expect(await eventOf(launch, failed)).toMatchObject({ reason: 'gone', isFinal: true });
    const words = 'logout token not delivered, and no attempt is left';
    await logged(launch, words);
    const line = running.lines.find((each) => each.includes(launch) && each.includes(words));
    expect(line).toContain('"level":50');
  });

  it('is sent for the last time at the first attempt after twelve hours', async () => {
    receiver.answer(500, 500, 500);
    const { launch } = await startTokens();
    await end(launch);
    await eventOf(launch, failed);
    clock.advance({ seconds: 12 * 3600 });
    expect(await eventOf(launch, failed, { isFinal: true })).toMatchObject({ attempts: 2 });
    receiver.answer();
  });
});

describe('a partner that was down', () => {
  it('receives the logout token when it is up again, even from another process', async () => {
    const port = await findFreePort();
    const down = aPartner({
      clientId: 'down',
      profile: 'standard',
      backchannelLogoutUri: `http://127.0.0.1:${port}/logout`,
    });
    const realms = [...desktopRealms(), { realm: at, clients: [], desktop: { partners: [down] } }];
    // This test has its own storage: the service of the other tests would lease this delivery too.
    const ownStorage = await openTestStorage();
    const options = { clock, storage: ownStorage, realms };
    const first = await runDesktop(options);
    const tokens = await first.tokensFor({ client_id: 'down' }, at);
    const launch = chainOf(tokens);
    await first.idp.get(`/${at}/launches/${launch}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${await first.hostToken()}` },
    });
    const isTried = () => first.eventsOf(launch).some(({ type }) => type.startsWith('desktop.logout.'));
    while (!isTried()) await new Promise((resolve) => setImmediate(resolve));
    await first.stop();
    const up = await startReceiver(port);
    clock.advance({ seconds: 10 });
    const second = await runDesktop(options);
    expect(await up.about(launch)).toHaveLength(1);
    await second.stop();
    await up.stop();
    await ownStorage.close();
  });
});

describe('a delivery whose lease has expired', () => {
  it('can be marked as delivered only by the process that holds the new lease', async () => {
    const own = await openTestStorage();
    const logouts = createLogouts(await openSchema(own));
    const now = clock.now();
    const logout = { messageId: randomUUID(), realm: at, clientId: 'notified', launchId: randomUUID() };
    await logouts.add({ ...logout, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }, now);
    const slow = await logouts.lease(now, []);
    const current = await logouts.lease(now + 76_000, []);
    if (slow === undefined || current === undefined) throw new Error('The delivery was due');
    await logouts.settle(slow, { state: 'delivered', status: 200 });
    // The delivery is due again after the second lease.
    expect(await logouts.lease(now + 152_000, [])).toMatchObject({
      messageId: logout.messageId,
      attempts: 3,
    });
    await own.close();
  });
});

describe('back-channel logout', () => {
  const discover = async (of: string) =>
    record(await (await running.idp.get(`/${of}/v2.0/.well-known/openid-configuration`)).json());

  it('is advertised in the discovery document', async () => {
    expect(await discover(at)).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      claims_supported: expect.arrayContaining(['sid']),
    });
    expect(await discover('north')).not.toHaveProperty('backchannel_logout_supported');
  });

  it('adds no sid to the ID tokens of partners without a logout address', async () => {
    const { tokens } = await startTokens('unnotified');
    expect(decodeJwt(tokens.idToken)).not.toHaveProperty('sid');
  });

  it('requires an https address in production', () => {
    const partners = [aPartner({ backchannelLogoutUri: 'http://partner.example/logout' })];
    const registry = registryOf({ realms: [{ realm: at, clients: [], desktop: { partners } }] }, 'http://x');
    expect(productionRegistryProblems(registry)).toEqual([
      'realms[0].desktop.partners[0].backchannelLogoutUri must be https',
    ]);
  });
});
