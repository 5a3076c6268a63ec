import { once } from 'node:events';
import { request } from 'node:http';
import { createPmsClient } from '@clinical-launch/pms-client';
import { ConfigurationError } from '@clinical-launch/runtime/environment';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTwin, type Twin } from '../src/twin.ts';

const { logger } = createRecordedLogger();
const options = { port: 0, host: '127.0.0.1', logger };
let twin: Twin;
beforeAll(async () => {
  // The servers of the vendor's product, which the twin must not use.
  const url = 'redis://127.0.0.1:1';
  twin = await startTwin({
    ...options,
    environment: {
      REDIS_URL: url,
      AMQP_URL: url,
      DATABASE_URL: url,
      PUBLIC_URL: url,
      LAUNCH_TOKEN_SECONDS: '5',
    },
  });
});
afterAll(() => twin.stop());

const createPms = () =>
  createPmsClient({
    baseUrl: twin.url,
    tokenUrl: `${twin.url}/idp/demo/oauth2/v2.0/token`,
    clientId: 'pms-demo',
    clientSecret: 'pms-demo-secret',
    scope: 'api://clinical-launch/.default',
  });

const post = (body: string, type = 'application/json') =>
  fetch(`${twin.url}/clock`, { method: 'POST', headers: { 'Content-Type': type }, body });

const advance = async (seconds: number) => {
  expect((await post(JSON.stringify({ advanceSeconds: seconds }))).status).toBe(200);
};

const timeOf = async (answer: Response) => {
  const { now }: { readonly now: string } = JSON.parse(await answer.text());
  return Date.parse(now);
};

describe('the twin', () => {
  it('opens a launch once, at its own address', async () => {
    const { url } = await createPms().requestLaunch(aServiceRequest());
    expect(new URL(url).origin).toBe(twin.url);
    expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([200, 410]);
  });

  it('refuses a launch URL after the seconds of LAUNCH_TOKEN_SECONDS, and an access token after one hour', async () => {
    const pms = createPms();
    const { url } = await pms.requestLaunch(aServiceRequest());
    await advance(6);
    expect((await fetch(url)).status).toBe(401);
    const tokenAnswer = await fetch(`${twin.url}/idp/demo/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'pms-demo',
        client_secret: 'pms-demo-secret',
        scope: 'api://clinical-launch/.default',
      }),
    });
    const { access_token: token }: { readonly access_token: string } = JSON.parse(await tokenAnswer.text());
    const validate = async () => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const body = JSON.stringify(aServiceRequest());
      return (await fetch(`${twin.url}/AccessApi/Validate`, { method: 'POST', headers, body })).status;
    };
    expect(await validate()).not.toBe(401);
    await advance(3611);
    expect(await validate()).toBe(401);
  });

  it('opens launches after its clock moved by a year and its signing keys were rotated', async () => {
    await createPms().requestLaunch(aServiceRequest());
    await advance(365 * 86_400);
    const { url } = await createPms().requestLaunch(aServiceRequest());
    expect((await fetch(url)).status).toBe(200);
  });

  it('answers 413 to a body that is too large, each time that it is sent', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = ' '.repeat(3_000_000);
    for (const _attempt of [1, 2, 3]) {
      const url = `${twin.url}/idp/demo/oauth2/v2.0/token`;
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(413);
    }
  });

  it('does not start in production mode', async () => {
    const starting = startTwin({ ...options, environment: { NODE_ENV: 'production' } });
    await expect(starting).rejects.toThrow(ConfigurationError);
  });
});

describe('the clock of the twin', () => {
  it('moves to an instant, and then continues', async () => {
    const target = (await timeOf(await fetch(`${twin.url}/clock`))) + 60_000;
    const moved = await timeOf(await post(JSON.stringify({ now: new Date(target).toISOString() })));
    expect(moved).toBeGreaterThanOrEqual(target);
    expect(await timeOf(await fetch(`${twin.url}/clock?x`))).toBeGreaterThanOrEqual(moved);
  });

  it.each([
    ['null'],
    ['[]'],
    ['{}'],
    ['{"advanceSeconds":0}'],
    ['{"advanceSeconds":-60}'],
    ['{"advanceSeconds":0.5}'],
    ['{"advanceSeconds":"60"}'],
    ['{"advanceSeconds":31622401}'],
    ['{"advanceSeconds":60,"advanceSeconds":60}'],
    ['{"advanceSeconds":60,"now":"2030-01-01T00:00:00Z"}'],
    ['{"advanceSeconds":60,"other":1}'],
    ['{"now":"2020-01-01T00:00:00Z"}'],
    ['{"now":"2099-01-01T00:00:00Z"}'],
    ['{"now":"2030-02-29T00:00:00Z"}'],
    ['{"now":1800000000}'],
  ])('refuses %s', async (body) => {
    expect((await post(body)).status).toBe(400);
  });

  it('cannot be moved by a page of another origin', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect((await post('{"advanceSeconds":60}', type)).status).toBe(415);
    const preflight = await fetch(`${twin.url}/clock`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).toBe(405);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it.each([
    ['a host name that was made to resolve to this machine', { host: 'rebound.example' }],
    ['a page of another origin', { origin: 'https://evil.example' }],
  ])('cannot be moved by %s', async (_what, headers) => {
    const { hostname, port } = new URL(twin.url);
    const moving = request({ hostname, port, path: '/clock', method: 'POST', headers });
    const [answered] = await once(moving.end('{"advanceSeconds":60}'), 'response');
    expect(answered.resume().statusCode).toBe(403);
  });

  it('refuses a body of more than a kilobyte', async () => {
    expect((await post(`{"advanceSeconds":${' '.repeat(1024)}60}`)).status).toBe(413);
  });
});
