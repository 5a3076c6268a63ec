import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { LaunchContext } from '@clinical-launch/contracts';
import { createTestBacking, serveForTest, TestClock } from '@clinical-launch/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchGateway, readLaunchGatewayConfig } from '../src/index.ts';

type StartOptions = { readonly publicUrl?: string };

async function startGateway({ publicUrl = 'http://localhost' }: StartOptions = {}) {
  const clock = new TestClock();
  const backing = createTestBacking(clock);
  const config = readLaunchGatewayConfig({ PUBLIC_URL: publicUrl });
  const service = launchGateway(config, { ...backing, events: backing.bus });
  const server = await serveForTest({ mounts: [{ path: '/', service }], backing });

  return {
    ...backing,
    clock,
    url: `${server.url}/secureLaunch`,
    stop: () => server.stop(),
    /** A launch token as the launch API issues it, with its verifier. */
    async issue({
      verifier = randomBytes(64).toString('base64url'),
      challenge = sha256(verifier),
      frameAncestors = [] as string[],
    } = {}) {
      const launchId = randomUUID();
      const context: LaunchContext = {
        launchId,
        client: { issuer: 'i', clientId: 'pms', frameAncestors },
        request,
      };
      const issued = await backing.tickets.issue('launch-token', {
        context,
        challenge,
        ttlSeconds: 10,
        correlationId: launchId,
        events: [],
      });
      if (issued.outcome !== 'issued') throw new Error(issued.outcome);
      return { launchToken: issued.ticket, codeVerifier: verifier, launchId };
    },
  };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('base64url');
const name = { family: 'Whitfield', given: ['Margaret'] };
const organization = {
  identifier: { system: 'local-org-code' as const, value: 'P1' },
  name: 'Harbour Surgery',
};
const request: LaunchContext['request'] = {
  action: 'OrderTest',
  originatingId: 'HS-1',
  authoredOn: '2026-03-02T09:30:00Z',
  author: { username: 'a.okonkwo', name },
  patient: {
    name,
    birthDate: '1958-02-28',
    gender: 'female',
    address: { lines: [] },
    identifiers: [],
    telecom: [],
  },
  requester: { identifier: { system: 'local-staff-code', value: 'S1' }, name },
  practice: organization,
  performer: organization,
};

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

type Parameters = { launchToken: string; codeVerifier: string };
const launch = ({ launchToken, codeVerifier }: Parameters, init?: RequestInit) =>
  fetch(`${gateway.url}?${new URLSearchParams({ launchToken, codeVerifier }).toString()}`, init);

async function expectEmpty(response: Response, status: number) {
  expect([response.status, await response.text()]).toEqual([status, '']);
  expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

describe('200: the verifier matches and the token is valid and unused', () => {
  it('opens a launch session and the OLTR application, under the GUID of the launch', async () => {
    const issued = await gateway.issue();
    const response = await launch(issued);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page).toContain(`url=/oltr/${issued.launchId}/"`);
    expect(response.headers.get('x-correlation-id')).toBe(issued.launchId);

    const [cookie = ''] = response.headers.getSetCookie();
    const [, session = ''] = /^launch-session=([^;]+);/.exec(cookie) ?? [];
    expect(cookie).toMatch(new RegExp(`; Path=/oltr/${issued.launchId}; HttpOnly; SameSite=Lax$`));
    const found = await gateway.tickets.find('launch-session', session);
    expect(found?.context).toMatchObject({ launchId: issued.launchId, request });
  });

  it('keeps token and verifier out of referrers, caches, frames and the page itself', async () => {
    const issued = await gateway.issue();
    const response = await launch(issued);
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*frame-ancestors 'none'/,
    );
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    const page = await response.text();
    expect(page).not.toContain(issued.launchToken);
    expect(page).not.toContain(issued.codeVerifier);
    const everything = [...gateway.lines, JSON.stringify(gateway.published)].join('\n');
    expect(everything).not.toContain(issued.launchToken);
    expect(everything).not.toContain(issued.codeVerifier);
    expect(everything).not.toContain('Whitfield');
  });

  it('is answered to a form too, which keeps the verifier out of URLs', async () => {
    const { launchToken, codeVerifier } = await gateway.issue();
    const body = new URLSearchParams({ launchToken, codeVerifier });
    expect((await fetch(gateway.url, { method: 'POST', body })).status).toBe(200);
    await expectEmpty(await fetch(gateway.url, { method: 'POST', body }), 410);
  });

  it.each([43, 86, 128, 171, 256])('is answered to a verifier of %i characters', async (length) => {
    const verifier = randomBytes(256).toString('base64url').slice(0, length);
    expect((await launch(await gateway.issue({ verifier }))).status).toBe(200);
  });

  it("is answered when the challenge is the hash of the verifier's bytes", async () => {
    const bytes = randomBytes(64);
    const issued = await gateway.issue({ verifier: bytes.toString('base64url'), challenge: sha256(bytes) });
    expect((await launch(issued)).status).toBe(200);
  });

  it('lets the pages of a registered PMS frame it, with a cookie that works there', async () => {
    const secure = await startGateway({ publicUrl: 'https://oltr.example' });
    const issued = await secure.issue({ frameAncestors: ['https://pms.example'] });
    const response = await fetch(`${secure.url}?${new URLSearchParams(issued).toString()}`);
    await secure.stop();
    expect(response.headers.get('content-security-policy')).toContain('frame-ancestors https://pms.example');
    expect(response.headers.get('x-frame-options')).toBeNull();
    expect(response.headers.getSetCookie()[0]).toMatch(/HttpOnly; Secure; Partitioned; SameSite=None$/);
  });
});

describe('401', () => {
  it('is answered to a mismatch, which leaves the token usable', async () => {
    const issued = await gateway.issue();
    await expectEmpty(await launch({ ...issued, codeVerifier: randomBytes(64).toString('base64url') }), 401);
    expect((await launch(issued)).status).toBe(200);
  });

  it.each([42, 257])('is answered to a verifier of %i characters, whose hash would match', async (length) => {
    const verifier = randomBytes(256).toString('base64url').slice(0, length);
    await expectEmpty(await launch(await gateway.issue({ verifier })), 401);
  });

  it('is answered when the challenge itself is sent as the verifier', async () => {
    const issued = await gateway.issue();
    await expectEmpty(await launch({ ...issued, codeVerifier: sha256(issued.codeVerifier) }), 401);
  });

  it('is answered to an unknown token', async () => {
    await expectEmpty(await launch({ launchToken: 'A'.repeat(43), codeVerifier: 'v'.repeat(64) }), 401);
  });

  it('is answered after ten seconds', async () => {
    const issued = await gateway.issue();
    gateway.clock.advance({ seconds: 10 });
    await expectEmpty(await launch(issued), 401);
  });

  it.each([
    ['launchToken missing', (_t: string, v: string) => `codeVerifier=${v}`],
    ['codeVerifier missing', (t: string) => `launchToken=${t}`],
    ['both empty', () => 'launchToken=&codeVerifier='],
    ['nothing at all', () => ''],
    ['launchToken twice', (t: string, v: string) => `launchToken=${t}&launchToken=${t}&codeVerifier=${v}`],
    ['codeVerifier twice', (t: string, v: string) => `launchToken=${t}&codeVerifier=${v}&codeVerifier=${v}`],
    ['launchtoken in lower case', (t: string, v: string) => `launchtoken=${t}&codeVerifier=${v}`],
    ['CodeVerifier capitalised', (t: string, v: string) => `launchToken=${t}&CodeVerifier=${v}`],
    ['an array', (t: string, v: string) => `launchToken[]=${t}&codeVerifier=${v}`],
    ['an object', (t: string, v: string) => `launchToken[a]=${t}&codeVerifier=${v}`],
  ])('is answered to %s, and the token stays usable', async (_fault, query) => {
    const issued = await gateway.issue();
    await expectEmpty(await fetch(`${gateway.url}?${query(issued.launchToken, issued.codeVerifier)}`), 401);
    expect((await launch(issued)).status).toBe(200);
  });

  it.each([
    ['HEAD', { method: 'HEAD' }],
    ['a prefetch (Sec-Purpose)', { headers: { 'Sec-Purpose': 'prefetch' } }],
    ['a prerender (Sec-Purpose)', { headers: { 'Sec-Purpose': 'prefetch;prerender' } }],
    ['a prefetch (Purpose)', { headers: { Purpose: 'prefetch' } }],
    ['a prefetch (X-Moz)', { headers: { 'X-Moz': 'prefetch' } }],
    ['a preview (Purpose)', { headers: { Purpose: 'preview' } }],
    ['a preview (X-Purpose)', { headers: { 'X-Purpose': 'preview' } }],
  ])('is answered to %s, which burns nothing', async (_kind, init) => {
    const issued = await gateway.issue();
    await expectEmpty(await launch(issued, init), 401);
    expect((await launch(issued)).status).toBe(200);
  });
});

describe('410: the token was already used', () => {
  it('is answered to every replay, whatever verifier is sent, also long after the ten seconds', async () => {
    const issued = await gateway.issue();
    await launch(issued);
    await expectEmpty(await launch(issued), 410);
    await expectEmpty(await launch({ ...issued, codeVerifier: 'w'.repeat(64) }), 410);
    await expectEmpty(await launch({ ...issued, codeVerifier: 'short' }), 410);
    gateway.clock.advance({ seconds: 86_399 });
    await expectEmpty(await launch(issued), 410);
  });

  it('is told in the log under the GUID of the launch', async () => {
    const issued = await gateway.issue();
    await launch(issued);
    await launch(issued);
    const logged = gateway.lines.filter((line) => line.includes(issued.launchId));
    expect(logged.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ correlationId: issued.launchId, status: 410, code: 'token_used' }),
    );
  });

  it('is answered to 199 of 200 simultaneous launches of one token, and 200 to one', async () => {
    const issued = await gateway.issue();
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => (await launch(issued)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 410)).toHaveLength(199);
  });
});

describe('the audit trail', () => {
  it('is told of every outcome, under the GUID of the launch where the token is known', async () => {
    const issued = await gateway.issue();
    await launch({ ...issued, codeVerifier: 'w'.repeat(64) });
    await launch(issued);
    await launch(issued);
    const story = gateway.published.filter(({ correlationid }) => correlationid === issued.launchId);
    expect(story.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'launch.token.refused.v1', data: { status: 401, reason: 'verifier_mismatch' } },
      { type: 'launch.token.redeemed.v1', data: {} },
      { type: 'launch.token.refused.v1', data: { status: 410, reason: 'token_used' } },
    ]);
  });
});

describe('the path and the method', () => {
  it('are taken exactly: another case or a trailing slash is 404, another method 405', async () => {
    const { launchToken, codeVerifier } = await gateway.issue();
    const query = `?${new URLSearchParams({ launchToken, codeVerifier }).toString()}`;
    for (const path of ['/SecureLaunch', '/securelaunch', '/secureLaunch/']) {
      expect((await fetch(gateway.url.replace('/secureLaunch', path) + query)).status).toBe(404);
    }
    const put = await fetch(gateway.url + query, { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect((await launch({ launchToken, codeVerifier })).status).toBe(200);
  });
});
