import type { PrivateServer } from '@clinical-launch/testing/servers/private-server';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from './running-platform.ts';

type Platform = Awaited<ReturnType<typeof startPlatformForTest>>;

let redis: PrivateServer;
/** Two replicas of the platform, with the same Redis and the same keys. */
let platform: Platform;
let replica: Platform;
beforeAll(async () => {
  redis = await startRedis();
  const start = () => startPlatformForTest({ environment: { REDIS_URL: redis.url } });
  [platform, replica] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([platform.stop(), replica.stop()]);
  await redis.stop();
});

/** Signs in as a browser does, and returns the session cookie. */
async function signIn(): Promise<string> {
  const cookies = new Map<string, string>();
  const follow = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const Cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(new URL(address, platform.url), {
      ...init,
      headers: { Cookie },
      redirect: 'manual',
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    return next === null ? response : follow(next);
  };
  const page = await follow('/audit/');
  const person = /value="([^"]+)">Sign in as Ruth Adeyemi</.exec(await page.text())?.[1] ?? '';
  const { pathname } = new URL(page.url);
  expect((await follow(pathname, { method: 'POST', body: new URLSearchParams({ person }) })).status).toBe(
    200,
  );
  return `audit-session=${cookies.get('audit-session')}`;
}

const open = (at: Platform, Cookie: string) =>
  fetch(`${at.url}/audit/patients`, { headers: { Cookie }, redirect: 'manual' });

const signOut = (Cookie: string) =>
  fetch(`${platform.url}/audit/sign-out`, {
    method: 'POST',
    headers: { Cookie, Origin: platform.url, 'Content-Type': 'application/x-www-form-urlencoded' },
    redirect: 'manual',
  });

describe('a session of the audit pages', () => {
  it('ends on every replica, for every copy of its cookie, when the person signs out', async () => {
    const [session, other] = [await signIn(), await signIn()];
    for (const at of [platform, replica]) expect((await open(at, session)).status).toBe(200);
    expect((await signOut(session)).headers.get('refresh')).toMatch(/^0; url=/);
    for (const at of [platform, replica]) {
      const { status, headers } = await open(at, session);
      expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('/audit/sign-in?')]);
      expect((await open(at, other)).status).toBe(200);
    }
  });

  it('causes 503 while ended sessions cannot be read or stored', async () => {
    const session = await signIn();
    await redis.kill();
    for (const answer of [await open(platform, session), await signOut(session)]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
      expect(await answer.text()).toContain('Wait a moment, then reload this page.');
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    await redis.restart();
    await until(async () => (await open(platform, session)).status === 200);
    expect((await signOut(session)).status).toBe(200);
    expect((await open(replica, session)).status).toBe(303);
  });
});
