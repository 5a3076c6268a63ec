import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createPkcePair } from '@clinical-launch/pms-client';
import { launchBody } from '@clinical-launch/simulators/host/desktop-launch';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { getPatient } from '@clinical-launch/simulators/records';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { runOpsHere } from '../../tools/ops/test/run-ops.ts';
import { requestLaunch } from './audit-launches.ts';
import { startPlatformForTest } from './running-platform.ts';

const own = `test-${randomUUID()}`;
const realm = '/idp/demo/desktop';
const clientId = 'partner-demo';
const scope = 'openid profile offline_access launch resource.read';
const logouts: string[] = [];

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let environment: Readonly<Record<string, string>>;
let receiver: Server;
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  database = await createTestDatabase();
  environment = {
    REDIS_URL: process.env.TEST_REDIS_URL ?? '',
    REDIS_PREFIX: own,
    AMQP_URL: process.env.TEST_AMQP_URL ?? '',
    AMQP_NAMESPACE: own,
    DATABASE_URL: database.url,
  };
  receiver = createServer(async (request, response) => {
    logouts.push(new URLSearchParams(await text(request)).get('logout_token') ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  platform = await startPlatformForTest({
    environment,
    changeRegistry: (registry) =>
      registry
        .replace('"scopes": []', '"scopes": ["token.introspect"]')
        .replace(
          '"name": "Demo partner application",',
          `"name": "Demo partner application", "backchannelLogoutUri": "http://127.0.0.1:${port}/logout",`,
        ),
  });
});
afterAll(async () => {
  await platform.stop();
  receiver.close();
  await database.drop();
});

async function end(...args: string[]): Promise<string[]> {
  const command = ['launches', 'end', ...args, '--by', 'A Operator', '--json'];
  const { code, output, errors } = await runOpsHere(command, environment);
  expect([code, errors]).toEqual([0, '']);
  const { ended } = JSON.parse(output) as { ended: { launchId: string }[] };
  return ended.map(({ launchId }) => launchId);
}

const post = (
  path: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(platform.url + path, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
    redirect: 'manual',
  });

/** Opens the partner application, and returns its tokens and the GUID of its launch. */
async function openPartner() {
  const patient = getPatient(null);
  const body = launchBody({ clientId, patient, authorizations: ['agmt-agmt.read', 'clinical-cr.read'] });
  const token = await platform.tokenOf('host-demo');
  const issued = await fetch(`${platform.url}${realm}/launches`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { launch = '' } = (await issued.json()) as { launch?: string };
  const { codeVerifier, codeChallenge } = createPkcePair();
  const redirectUri = `${platform.url}/demo/partner/callback`;
  const authorized = await post(`${realm}/oauth2/v2.0/authorize`, {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    response_mode: 'query',
    scope,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    state: 's',
    launch,
  });
  const code = new URL(authorized.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const exchanged = await post(`${realm}/oauth2/v2.0/token`, {
    grant_type: 'authorization_code',
    client_id: clientId,
    scope,
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  });
  const tokens = (await exchanged.json()) as { access_token: string; refresh_token: string };
  return { guid: issued.headers.get('x-correlation-id') ?? '', ...tokens };
}

const refresh = ({ refresh_token: token }: { refresh_token: string }) =>
  post(`${realm}/oauth2/v2.0/token`, {
    grant_type: 'refresh_token',
    client_id: clientId,
    scope,
    refresh_token: token,
  });
const read = ({ access_token: token }: { access_token: string }) =>
  fetch(`${platform.url}/resource/me`, { headers: { Authorization: `Bearer ${token}` } });

async function isActive({ access_token: token }: { access_token: string }): Promise<boolean> {
  const authorization = `Bearer ${await platform.tokenOf('pms-noscope')}`;
  const response = await post(`${realm}/oauth2/v2.0/introspect`, { token }, { authorization });
  return ((await response.json()) as { active: boolean }).active;
}

it('an ended desktop launch is refused everywhere, and its partner application is notified', async () => {
  const opened = await openPartner();
  expect([(await read(opened)).status, await isActive(opened)]).toEqual([200, true]);
  expect(await end('--partner', clientId, '--client', 'host-demo')).toEqual([opened.guid]);
  expect(await isActive(opened)).toBe(false);
  const refused = await refresh(opened);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    expect.objectContaining({ error: 'invalid_grant' }),
  ]);
  await until(async () => (await read(opened)).status === 401);
  await until(() => logouts.some((token) => decodeJwt(token)['sid'] === opened.guid));
});

it('ended launches of a practice system show the page of an ended session, and launches of another practice system continue', async () => {
  const open = async (token: string) => {
    const { url, codeVerifier, guid } = await requestLaunch(platform, {
      token: await platform.tokenOf(token),
    });
    const browser = new Browser();
    return { browser, guid, page: await browser.open(`${url}&codeVerifier=${codeVerifier}`) };
  };
  const [ended, neighbour] = [await open('pms-demo'), await open('pms-other')];
  const unopened = await requestLaunch(platform);
  const [, test = ''] = /name="test" type="checkbox" value="([^"]+)"/.exec(ended.page.html) ?? [];
  expect(new Set(await end('--client', 'pms-demo'))).toEqual(new Set([ended.guid, unopened.guid]));
  const form = new URLSearchParams({ test, action: 'review' });
  const answers = [
    await ended.browser.open(ended.page.url),
    await ended.browser.open(ended.page.url, form),
    await new Browser().open(`${unopened.url}&codeVerifier=${unopened.codeVerifier}`),
    await neighbour.browser.open(neighbour.page.url, form),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 200]);
  expect(answers[1]?.html).toContain('session has ended');
  const story = await platform.storyOf(ended.guid, ['launch.ended.v1'], await platform.tokenOf('audit-demo'));
  expect(story.find(({ type }) => type === 'launch.ended.v1')?.data).toEqual({
    by: 'A Operator',
    reason: 'ended_by_operator',
  });
});
