import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from './gateway.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const errorPage = 'https://pms.example/refused?site=7&x=%20+y';
const documentHeaders = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const plainHeaders = { accept: '*/*' };

type Parameters = { readonly launchToken: string; readonly codeVerifier: string };
type Sent = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };
type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

/** Opens a launch URL with exactly these headers. `fetch` would add its own `Sec-Fetch-Mode`. */
async function open(
  { launchToken, codeVerifier }: Parameters,
  { method = 'GET', headers = documentHeaders }: Sent = {},
): Promise<Answer> {
  const parameters = new URLSearchParams({ launchToken, codeVerifier }).toString();
  const isForm = method === 'POST';
  const sent = send(isForm ? gateway.url : `${gateway.url}?${parameters}`, {
    method,
    headers: { ...headers, ...(isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) },
  });
  sent.end(isForm ? parameters : undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

const leadsTo = (reference: string, reason: string) => `${errorPage}&reference=${reference}&reason=${reason}`;

function expectPlain({ status, headers, body }: Answer, expected: number): void {
  expect([status, headers.location, body]).toEqual([expected, undefined, '']);
  expect(headers['cache-control']).toBe('no-store');
}

type Issued = Awaited<ReturnType<typeof gateway.issue>>;

/**
 * The refusals of a launch with a known client. Each contains a description, the status without a redirect,
 * the reason, and a function that causes the refusal.
 */
const refusals: readonly [string, number, string, (issued: Issued) => Promise<Parameters> | Parameters][] = [
  [
    'the token was used',
    410,
    'token_used',
    async (issued) => {
      await open(issued);
      return issued;
    },
  ],
  [
    'the verifier does not match the challenge',
    401,
    'verifier_mismatch',
    (issued) => ({ ...issued, codeVerifier: 'w'.repeat(64) }),
  ],
  ['the verifier is malformed', 401, 'verifier_mismatch', (issued) => ({ ...issued, codeVerifier: 'short' })],
  [
    'the token has expired',
    401,
    'token_unknown',
    (issued) => {
      gateway.clock.advance({ seconds: 10 });
      return issued;
    },
  ],
];

describe('a refused launch of a client with a launchErrorPage', () => {
  it.each(refusals)(
    'redirects a browser to the page with the reference and the reason if %s',
    async (_what, status, reason, refuse) => {
      const issued = await gateway.issue({ errorPage });
      const { launchId } = issued;
      const parameters = await refuse(issued);
      const answer = await open(parameters);
      expect([answer.status, answer.headers.location]).toEqual([303, leadsTo(launchId, reason)]);
      expect(answer.headers).toMatchObject({
        'x-correlation-id': launchId,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      expect(answer.headers['set-cookie']).toBeUndefined();
      const said = JSON.stringify([answer.headers, answer.body]);
      for (const secret of [issued.launchToken, parameters.codeVerifier, issued.codeVerifier, 'Whitfield'])
        expect(said).not.toContain(secret);

      expectPlain(await open(parameters, { headers: plainHeaders }), status);
      const audited = gateway.published.filter(
        ({ correlationid, type }) => correlationid === launchId && type === 'launch.token.refused.v1',
      );
      expect(audited.map(({ data }) => data)).toEqual(
        Array.from({ length: 2 }, () => ({ address: '127.0.0.1', status, reason, launchId })),
      );
    },
  );

  it('redirects a browser that posted the launch as a form', async () => {
    const issued = await gateway.issue({ errorPage });
    expect((await open(issued, { method: 'POST' })).status).toBe(200);
    const { status, headers } = await open(issued, { method: 'POST' });
    expect([status, headers.location]).toEqual([303, leadsTo(issued.launchId, 'token_used')]);
  });

  it('redirects a browser for up to an hour after the launch URL was issued', async () => {
    const issued = await gateway.issue({ errorPage });
    await open(issued);
    gateway.clock.advance({ seconds: 3599 });
    expect((await open(issued)).status).toBe(303);
    gateway.clock.advance({ seconds: 1 });
    expectPlain(await open(issued), 410);
  });

  it('leaves the launch token usable after a wrong verifier', async () => {
    const issued = await gateway.issue({ errorPage });
    expect((await open({ ...issued, codeVerifier: 'w'.repeat(64) })).status).toBe(303);
    expect((await open(issued)).status).toBe(200);
  });
});

describe('a refused request of a client with a launchErrorPage', () => {
  const navigations: [string, Readonly<Record<string, string>>][] = [
    ['a navigation of a window', documentHeaders],
    ['a navigation of a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['an older browser that accepts HTML', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }],
  ];
  const others: [string, Readonly<Record<string, string>>][] = [
    ['a program without browser headers', {}],
    ['a program that accepts everything', plainHeaders],
    ['a program that accepts JSON', { accept: 'application/json' }],
    ['a script of a page', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    [
      'a script that accepts HTML',
      { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: 'text/html' },
    ],
    ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['an embedded object', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }],
    ['a prefetch', { ...documentHeaders, 'sec-purpose': 'prefetch' }],
  ];

  it.each(navigations)('is answered with a redirect for %s', async (_what, headers) => {
    const issued = await gateway.issue({ errorPage });
    await open(issued);
    expect((await open(issued, { headers })).status).toBe(303);
  });

  it.each(others)('is answered without a redirect for %s', async (_what, headers) => {
    const issued = await gateway.issue({ errorPage });
    const mistaken = { ...issued, codeVerifier: 'w'.repeat(64) };
    expectPlain(await open(mistaken, { headers }), 401);
  });

  it('is answered without a redirect for HEAD', async () => {
    const issued = await gateway.issue({ errorPage });
    await open(issued);
    expectPlain(await open(issued, { method: 'HEAD' }), 401);
  });
});

describe('a refused navigation', () => {
  it('is not redirected if its client has no launchErrorPage', async () => {
    const issued = await gateway.issue();
    await open(issued);
    expectPlain(await open(issued), 410);
  });

  it('with a guessed or changed token reveals nothing about the launch', async () => {
    const issued = await gateway.issue({ errorPage });
    const { launchToken, launchId } = issued;
    const last = launchToken.endsWith('A') ? 'B' : 'A';
    const forged = [
      `${launchToken.slice(0, -1)}${last}`,
      `${launchToken.slice(0, 46)}${'A'.repeat(43)}`,
      'A'.repeat(43),
      launchToken.slice(0, -1),
    ];
    for (const token of forged) {
      const answer = await open({ ...issued, launchToken: token });
      expectPlain(answer, 401);
      expect(answer.headers['x-correlation-id']).not.toBe(launchId);
    }
    expect((await open(issued)).status).toBe(200);
  });

  it('is never redirected to an address from the request itself', async () => {
    const issued = await gateway.issue();
    await open(issued);
    const { status, headers } = await open(issued, {
      headers: { ...documentHeaders, referer: 'https://evil.example/', origin: 'https://evil.example' },
    });
    expect([status, headers.location]).toEqual([410, undefined]);
  });

  it('is not redirected if it contains no codeVerifier', async () => {
    const { launchToken } = await gateway.issue({ errorPage });
    const sent = send(`${gateway.url}?launchToken=${launchToken}`, { headers: documentHeaders });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.location]).toEqual([401, undefined]);
    response.resume();
  });
});

describe('a launch whose client requires a navigation', () => {
  const requiresNavigation = true;
  const scanners: [string, Readonly<Record<string, string>>][] = [
    ['a program without browser headers', {}],
    ['a program that claims to be a browser', { accept: 'text/html', 'user-agent': 'Mozilla/5.0' }],
    ['a fetch by a program', { 'sec-fetch-mode': 'cors' }],
    ['a request that claims the destination alone', { 'sec-fetch-dest': 'document' }],
  ];

  it.each(scanners)('is not opened by the GET of %s, and stays usable', async (_what, headers) => {
    const issued = await gateway.issue({ requiresNavigation });
    const refusal = await open(issued, { headers });
    expectPlain(refusal, 401);
    expect(refusal.headers['launch-refusal']).toBe('not_valid');
    const [audited] = gateway.published.filter(({ correlationid }) => correlationid === issued.launchId);
    expect(audited?.data).toMatchObject({ status: 401, reason: 'navigation_required' });
    expect((await open(issued)).status).toBe(200);
    expectPlain(await open(issued, { headers }), 410);
  });

  it('is opened by a form without browser headers, because link scanners post nothing', async () => {
    const issued = await gateway.issue({ requiresNavigation });
    expect((await open(issued, { method: 'POST', headers: {} })).status).toBe(200);
  });

  it('is refused to a navigation with the wrong verifier, as any launch', async () => {
    const issued = await gateway.issue({ requiresNavigation, errorPage });
    const answer = await open({ ...issued, codeVerifier: 'w'.repeat(64) });
    expect(answer.headers.location).toBe(leadsTo(issued.launchId, 'verifier_mismatch'));
  });

  it('redirects an older browser, which does not say that it navigates, to the error page with the reason', async () => {
    const issued = await gateway.issue({ requiresNavigation, errorPage });
    const answer = await open(issued, { headers: { accept: 'text/html' } });
    expect(answer.headers.location).toBe(leadsTo(issued.launchId, 'navigation_required'));
  });
});
