import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { worstForms } from '@clinical-launch/testing/worst-bodies';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { expectEmpty, request, sha256, startGateway } from './gateway.ts';

/** Encodes bytes in Base64URL with padding (RFC 4648 section 5). */
const padded = (bytes: Buffer) => bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_');

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

type Parameters = { launchToken: string; codeVerifier: string };
const launch = ({ launchToken, codeVerifier }: Parameters, init?: RequestInit) =>
  fetch(`${gateway.url}?${new URLSearchParams({ launchToken, codeVerifier }).toString()}`, init);

function formData(parameters: string): FormData {
  const data = new FormData();
  for (const [name, value] of new URLSearchParams(parameters)) data.append(name, value);
  return data;
}

describe('a valid launch', () => {
  it('opens a launch session and the OLTR application, both at a path with the GUID of the launch', async () => {
    const issued = await gateway.issue();
    const response = await launch(issued);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page).toContain(`url=/oltr/${issued.launchId}/"`);
    expect(response.headers.get('x-correlation-id')).toBe(issued.launchId);

    const [cookie = ''] = response.headers.getSetCookie();
    const [, session = ''] = /^launch-session=([^;]+);/.exec(cookie) ?? [];
    expect(cookie).toMatch(
      new RegExp(`; Max-Age=1800; Path=/oltr/${issued.launchId}; HttpOnly; SameSite=Lax$`),
    );
    const found = await gateway.tickets.find('launch-session', session);
    expect(found?.context).toMatchObject({ launchId: issued.launchId, request });
  });

  it('has a session that ends after twelve hours, however often it is used', async () => {
    const timed = await startGateway();
    try {
      const { launchToken, codeVerifier } = await timed.issue();
      const query = new URLSearchParams({ launchToken, codeVerifier }).toString();
      const [cookie = ''] = (await fetch(`${timed.url}?${query}`)).headers.getSetCookie();
      const [, session = ''] = /^launch-session=([^;]+);/.exec(cookie) ?? [];
      // The ordering service extends the session in the same way with each request.
      const visit = () => timed.tickets.find('launch-session', session, { extendSeconds: 1800 });
      for (let quarter = 0; quarter < 12 * 4; quarter += 1) {
        expect(await visit()).toBeDefined();
        timed.clock.advance({ seconds: 900 });
      }
      expect(await visit()).toBeUndefined();
    } finally {
      await timed.stop();
    }
  });

  it('keeps the token and verifier out of referrers, caches, the page and logs, and denies framing', async () => {
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

  it('can be posted as a form, which keeps the verifier out of URLs', async () => {
    const { launchToken, codeVerifier } = await gateway.issue();
    const body = new URLSearchParams({ launchToken, codeVerifier });
    // Apache HttpClient names this charset, which the type of a form does not have.
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded; charset=ISO-8859-1' };
    const posted = await fetch(gateway.url, { method: 'POST', body: String(body), headers });
    expect(posted.status).toBe(200);
    await expectEmpty(await fetch(gateway.url, { method: 'POST', body }), 410);
  });

  it.each(['document', 'iframe', 'frame'])('can be opened as a %s', async (destination) => {
    const headers = { 'Sec-Fetch-Dest': destination };
    expect((await launch(await gateway.issue(), { headers })).status).toBe(200);
  });

  it.each([43, 86, 128, 171, 256])('is accepted with a verifier of %i characters', async (length) => {
    const verifier = randomBytes(256).toString('base64url').slice(0, length);
    expect((await launch(await gateway.issue({ verifier }))).status).toBe(200);
  });

  it("is accepted if the challenge is the hash of the verifier's bytes", async () => {
    const bytes = randomBytes(64);
    const issued = await gateway.issue({ verifier: bytes.toString('base64url'), challenge: sha256(bytes) });
    expect((await launch(issued)).status).toBe(200);
  });

  it.each([
    ['its text with the padding', 64, (padded: string) => sha256(padded)],
    ['its text without the padding', 64, (padded: string) => sha256(padded.replaceAll('=', ''))],
    ['its bytes', 64, (padded: string) => sha256(Buffer.from(padded, 'base64url'))],
    ['its text with one character of padding', 65, (padded: string) => sha256(padded)],
  ])(
    'is accepted with a padded verifier if the challenge is the hash of %s',
    async (_of, bytes, challengeOf) => {
      const verifier = padded(randomBytes(bytes));
      const challenge = challengeOf(verifier);
      const encoded = await gateway.issue({ verifier, challenge });
      expect((await launch(encoded)).status).toBe(200);
      const { launchToken } = await gateway.issue({ verifier, challenge });
      const raw = `${gateway.url}?launchToken=${launchToken}&codeVerifier=${verifier}`;
      expect((await fetch(raw)).status).toBe(200);
      const sent = await gateway.issue({ verifier, challenge });
      const body = new URLSearchParams({ launchToken: sent.launchToken, codeVerifier: verifier });
      expect((await fetch(gateway.url, { method: 'POST', body })).status).toBe(200);
    },
  );

  it('can be framed by registered pages of its client, with a cookie that works in frames', async () => {
    const secure = await startGateway({ publicUrl: 'https://oltr.example' });
    const issued = await secure.issue({ frameAncestors: ['https://pms.example'] });
    const response = await fetch(`${secure.url}?${new URLSearchParams(issued).toString()}`);
    await secure.stop();
    expect(response.headers.get('content-security-policy')).toContain('frame-ancestors https://pms.example');
    expect(response.headers.get('x-frame-options')).toBeNull();
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^__Secure-launch-session=.*; HttpOnly; Secure; Partitioned; SameSite=None$/,
    );
  });
});

describe('a posted form within the size limit', () => {
  it('never causes a server error', async () => {
    const fields = ['launchToken', 'codeVerifier', 'launchToken=A&codeVerifier'];
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = async (body: string) => {
      const response = await fetch(gateway.url, { method: 'POST', body, headers });
      await response.text();
      expect(response.status).toBe(401);
    };
    await send('');
    await fc.assert(fc.asyncProperty(worstForms(fields, 2048), send), {
      numRuns: 60,
      endOnFailure: true,
    });
  });
});

describe('an address with an encoded question mark', () => {
  it('is answered with 404, and the log contains neither token nor verifier', async () => {
    const { launchToken, codeVerifier } = await gateway.issue();
    const address = `${gateway.url}%3FlaunchToken=${launchToken}&codeVerifier=${codeVerifier}`;
    expect((await fetch(address)).status).toBe(404);
    expect(gateway.lines.join()).not.toContain(launchToken);
    expect(gateway.lines.join()).not.toContain(codeVerifier);
  });
});

describe('an invalid launch', () => {
  it('with the wrong verifier is answered with 401 and leaves the token usable', async () => {
    const issued = await gateway.issue();
    await expectEmpty(await launch({ ...issued, codeVerifier: randomBytes(64).toString('base64url') }), 401);
    expect((await launch(issued)).status).toBe(200);
  });

  it.each([42, 257])(
    'with a verifier of %i characters is answered with 401 even if its hash matches',
    async (length) => {
      const verifier = randomBytes(256).toString('base64url').slice(0, length);
      await expectEmpty(await launch(await gateway.issue({ verifier })), 401);
    },
  );

  it.each([
    ['in the middle', (text: string) => `${text.slice(0, 40)}=${text.slice(40)}`],
    ['of one character too many', (text: string) => `${text}===`],
    ['of one character too few', (text: string) => `${text}=`],
    ['after text that is not Base64URL', (text: string) => `${text.slice(0, -1)}~==`],
  ])('whose verifier has padding %s is answered with 401 even if the hash matches', async (_where, pad) => {
    const verifier = pad(randomBytes(64).toString('base64url'));
    await expectEmpty(await launch(await gateway.issue({ verifier })), 401);
  });

  it('with the challenge as the verifier is answered with 401', async () => {
    const issued = await gateway.issue();
    await expectEmpty(await launch({ ...issued, codeVerifier: sha256(issued.codeVerifier) }), 401);
  });

  it('with an invalid port in its address is answered with 401, and its token and verifier are not logged', async () => {
    const { launchToken, codeVerifier } = await gateway.issue();
    const target = `http://a:99999/secureLaunch?launchToken=${launchToken}x&codeVerifier=${codeVerifier}`;
    const { port } = new URL(gateway.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(gateway.lines.join()).not.toContain(launchToken);
    expect(gateway.lines.join()).not.toContain(codeVerifier);
  });

  it('with an unknown or empty token is answered with 401', async () => {
    await expectEmpty(await launch({ launchToken: '', codeVerifier: '' }), 401);
    await expectEmpty(await launch({ launchToken: 'A'.repeat(43), codeVerifier: 'v'.repeat(64) }), 401);
  });

  it('with a token that is not stored is logged in the trace of the launch that the token names', async () => {
    const { launchToken, launchId } = await gateway.issue();
    const unknown = launchToken.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    await expectEmpty(await launch({ launchToken: unknown, codeVerifier: 'v'.repeat(64) }), 401);
    const logged = gateway.lines.map((line) => JSON.parse(line));
    expect(logged).toContainEqual(
      expect.objectContaining({ code: 'token_unknown', trace_id: launchId.replaceAll('-', '') }),
    );
  });

  it('that is opened after ten seconds is answered with 401', async () => {
    const issued = await gateway.issue();
    gateway.clock.advance({ seconds: 10 });
    await expectEmpty(await launch(issued), 401);
  });

  it.each([
    ['no launchToken', (_t: string, v: string) => `codeVerifier=${v}`],
    ['no codeVerifier', (t: string) => `launchToken=${t}`],
    ['no parameters', () => ''],
    ['two launchTokens', (t: string, v: string) => `launchToken=${t}&launchToken=${t}&codeVerifier=${v}`],
    ['two codeVerifiers', (t: string, v: string) => `launchToken=${t}&codeVerifier=${v}&codeVerifier=${v}`],
    ['launchtoken in lower case', (t: string, v: string) => `launchtoken=${t}&codeVerifier=${v}`],
    ['a capitalised CodeVerifier', (t: string, v: string) => `launchToken=${t}&CodeVerifier=${v}`],
    ['launchToken as an array', (t: string, v: string) => `launchToken[]=${t}&codeVerifier=${v}`],
    ['launchToken as an object', (t: string, v: string) => `launchToken[a]=${t}&codeVerifier=${v}`],
    // `cmd /c start` of Windows cuts an address at `&`, and templates escape `&` (hashicorp/vault-plugin-auth-jwt#36).
    ['an address that was cut at &', (t: string) => `launchToken=${t}`],
    ['an address whose & was escaped', (t: string, v: string) => `launchToken=${t}&amp;codeVerifier=${v}`],
  ])('with %s is answered with 401 missing_parameter and leaves the token usable', async (_fault, query) => {
    const issued = await gateway.issue();
    const { launchToken, codeVerifier } = issued;
    const response = await fetch(`${gateway.url}?${query(launchToken, codeVerifier)}`);
    await expectEmpty(response, 401, 'missing_parameter');
    expect((await launch(issued)).status).toBe(200);
  });

  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  type Body = (parameters: string) => Omit<RequestInit, 'method'>;
  it.each<[string, string, Body]>([
    ['JSON', 'keep-alive', (body) => ({ body, headers: { 'content-type': 'application/json' } })],
    ['text', 'keep-alive', (body) => ({ body })],
    ['a multipart form', 'keep-alive', (text) => ({ body: formData(text) })],
    ['no body', 'keep-alive', () => ({})],
    [
      'a form with a Content-Encoding',
      'keep-alive',
      (body) => ({ body, headers: { ...form, 'content-encoding': 'gzip' } }),
    ],
    [
      'a form that is not UTF-8',
      'keep-alive',
      (body) => ({ body: Buffer.from(`${body}\u{ff}`, 'latin1'), headers: form }),
    ],
    ['a form of 1,001 fields', 'keep-alive', (body) => ({ body: body + '&'.repeat(1000), headers: form })],
    ['a form of 2,049 bytes', 'close', (body) => ({ body: `${body}&`.padEnd(2049, 'a'), headers: form })],
  ])(
    'posted with %s is answered with 401, is audited and leaves the token usable',
    async (_what, connection, init) => {
      const issued = await gateway.issue();
      const { launchToken, codeVerifier } = issued;
      const sent = init(new URLSearchParams({ launchToken, codeVerifier }).toString());
      const response = await fetch(gateway.url, { method: 'POST', ...sent });
      await expectEmpty(response, 401);
      expect(response.headers.get('connection')).toBe(connection);
      const correlationid = response.headers.get('x-correlation-id');
      expect(gateway.published).toContainEqual(
        expect.objectContaining({
          correlationid,
          type: 'launch.token.refused.v1',
          data: expect.objectContaining({ status: 401, reason: 'unreadable_form' }),
        }),
      );
      expect((await launch(issued)).status).toBe(200);
    },
  );

  it.each([
    ['HEAD', { method: 'HEAD' }],
    ['a prefetch (Sec-Purpose)', { headers: { 'Sec-Purpose': 'prefetch' } }],
    ['a prerender (Sec-Purpose)', { headers: { 'Sec-Purpose': 'prefetch;prerender' } }],
    ['a prefetch (Purpose)', { headers: { Purpose: 'prefetch' } }],
    ['a prefetch (X-Moz)', { headers: { 'X-Moz': 'prefetch' } }],
    ['a preview (Purpose)', { headers: { Purpose: 'preview' } }],
    ['a preview (X-Purpose)', { headers: { 'X-Purpose': 'preview' } }],
    ...['image', 'script', 'style', 'empty', 'object', 'embed', 'worker', 'report', 'x', ''].map(
      (destination) =>
        [
          `what is no navigation (Sec-Fetch-Dest: ${destination})`,
          { headers: { 'Sec-Fetch-Dest': destination } },
        ] as const,
    ),
  ])('sent as %s is answered with 401 and leaves the token usable', async (_kind, init) => {
    const issued = await gateway.issue();
    await expectEmpty(await launch(issued, init), 401);
    expect((await launch(issued)).status).toBe(200);
  });

  it('posted as a form by a script is answered with 401 and leaves the token usable', async () => {
    const issued = await gateway.issue();
    const body = new URLSearchParams(issued);
    const headers = { 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': 'no-cors' };
    await expectEmpty(await fetch(gateway.url, { method: 'POST', body, headers }), 401);
    const asDocument = { 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Mode': 'navigate' };
    expect((await fetch(gateway.url, { method: 'POST', body, headers: asDocument })).status).toBe(200);
  });
});

describe('a replayed launch', () => {
  it('is answered with 410, whatever the verifier, even long after the token expired', async () => {
    const issued = await gateway.issue();
    await launch(issued);
    await expectEmpty(await launch(issued), 410);
    await expectEmpty(await launch({ ...issued, codeVerifier: 'w'.repeat(64) }), 410);
    await expectEmpty(await launch({ ...issued, codeVerifier: 'short' }), 410);
    gateway.clock.advance({ seconds: 86_399 });
    await expectEmpty(await launch(issued), 410);
  });

  it('is logged under the GUID of the launch', async () => {
    const issued = await gateway.issue();
    await launch(issued);
    await launch(issued);
    const logged = gateway.lines.filter((line) => line.includes(issued.launchId));
    expect(logged.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ correlationId: issued.launchId, status: 410, code: 'token_used' }),
    );
  });

  it('is answered with 410 for all but one of 200 simultaneous requests', async () => {
    const issued = await gateway.issue();
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => (await launch(issued)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 410)).toHaveLength(199);
  });
});

describe('the audit trail', () => {
  it('contains every outcome, under the GUID of the launch if the token is known', async () => {
    const issued = await gateway.issue();
    await launch({ ...issued, codeVerifier: 'w'.repeat(64) });
    await launch(issued);
    await launch(issued);
    const story = gateway.published.filter(({ correlationid }) => correlationid === issued.launchId);
    const about = { address: '127.0.0.1', launchId: issued.launchId };
    expect(story.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'launch.token.refused.v1', data: { ...about, status: 401, reason: 'verifier_mismatch' } },
      { type: 'launch.token.redeemed.v1', data: { address: '127.0.0.1' } },
      { type: 'launch.token.refused.v1', data: { ...about, status: 410, reason: 'token_used' } },
    ]);
  });
});

describe('the metrics', () => {
  it('count opened launches by client, refused launches by reason, and the wait of the opened ones', async () => {
    const measured = startMeasuring();
    const own = await startGateway();
    const { launchToken, codeVerifier } = await own.issue();
    own.clock.advance({ seconds: 3 });
    for (const verifier of ['wrong', codeVerifier, codeVerifier])
      await fetch(`${own.url}?launchToken=${launchToken}&codeVerifier=${verifier}`);
    expect(await measured.read('clinical_launch.launches.redeemed')).toEqual({ pms: 1 });
    expect(await measured.read('clinical_launch.launch.wait')).toEqual({ '': { count: 1, sum: 3 } });
    expect(await measured.read('clinical_launch.launches.refused')).toEqual({
      'unknown verifier_mismatch open': 1,
      'unknown token_used open': 1,
    });
    await own.stop();
    measured.stop();
  });
});

describe('the endpoint', () => {
  it('answers 404 to other spellings of the path, and 405 with Allow to PUT', async () => {
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
