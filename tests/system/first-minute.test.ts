import { readFileSync } from 'node:fs';
import { hashClientSecret } from '@clinical-launch/identity-provider/domain/client-secrets';
import { Browser, plainText } from '@clinical-launch/simulators/play/browser';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MovedClock } from './moved-clock.ts';
import { root } from './run-command.ts';
import { startPlatformForTest } from './running-platform.ts';

/** A client and a partner that an operator has added to the demo's registry. */
const addedClient = JSON.stringify({
  clientId: 'pms-added',
  name: 'Added practice system',
  secrets: [{ sha256: hashClientSecret('another secret') }],
  scopes: ['ocs-launch.write'],
  practices: 'any',
});
const addedPartner = JSON.stringify({
  clientId: 'partner-added',
  name: 'Added partner application',
  redirectUris: ['partneradded://auth'],
  launchUrl: 'partneradded://launch',
  scopes: ['openid', 'launch'],
});

const clock = new MovedClock();
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest({
    clock,
    changeRegistry: (text) =>
      text.replace('"clients": [', `$&${addedClient},`).replace('"partners": [', `$&${addedPartner},`),
  });
});
afterAll(() => platform.stop());

const textOf = async (path: string) => plainText(await (await fetch(platform.url + path)).text());

/** Presses a button of a page, which sends its form. */
function press(browser: Browser, html: string, label: string) {
  const sent = html.split('<form ').find((form) => form.includes(`>${label}</button>`)) ?? '';
  const [form = ''] = sent.split(`>${label}</button>`);
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of form.matchAll(/name="([^"]+)" value="([^"]*)"/g))
    fields.append(name, value);
  return browser.open(`${platform.url}${/action="([^"]+)"/.exec(form)?.[1] ?? ''}`, fields);
}

describe('the start page of the demo', () => {
  it('shows a returned order when its first button is pressed, and a 410 when the launch is played again', async () => {
    const browser = new Browser();
    const { html } = await browser.open(platform.url);
    const [, first = ''] = /<button[^>]*>([^<]+)/.exec(html) ?? [];
    const played = await press(browser, html, first);
    expect(plainText(played.html)).toContain('Full blood count (HFBC)');
    const again = await press(browser, played.html, 'Play it again: 410');
    expect(plainText(again.html)).toContain('HTTP/1.1 410');
  });

  it('opens a patient when its form is submitted once', async () => {
    const browser = new Browser();
    const { html } = await browser.open(platform.url);
    const opened = await press(browser, html, 'Open a patient');
    expect([opened.status, opened.url]).toEqual([200, expect.stringMatching(/\/oltr\/[0-9a-f-]{36}\/$/)]);
    expect(opened.html).toContain('WHITFIELD, Margaret Anne');
  });

  it('links only to addresses that answer 200', async () => {
    const { html } = await new Browser().open(platform.url);
    const paths = [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(15);
    for (const path of new Set(paths)) {
      const { status } = await new Browser().open(platform.url + plainText(path));
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it.each(['/nosuch', '/favicon.ico', '/idp/', '/demo/nosuch', '/developers/nosuch', '/developers/a/%ff'])(
    'answers a browser at %s with a page, and a program without one',
    async (path) => {
      const [page, program] = await Promise.all(
        ['text/html', 'application/xml'].map((Accept) => fetch(platform.url + path, { headers: { Accept } })),
      );
      expect([page?.status, await page?.text()]).toEqual([404, expect.stringContaining('Page not found')]);
      expect([program?.status, await program?.text()]).toEqual([404, expect.not.stringContaining('<html')]);
    },
  );

  it('leads from the addresses /demo and /docs to the demo and to the guides', async () => {
    const visited = await Promise.all(
      ['/demo', '/docs'].map((path) => new Browser().open(platform.url + path)),
    );
    expect(visited.map(({ url, status }) => [url.replace(platform.url, ''), status])).toEqual([
      ['/', 200],
      ['/developers/guides/pms', 200],
    ]);
  });

  it('lists the clients with publicly known secrets, and all partners', async () => {
    const text = await textOf('/');
    for (const one of [
      'pms-demo-secret',
      'host-demo-secret',
      'audit-demo-secret',
      'partner-native',
      'partner-added',
    ])
      expect(text).toContain(one);
    expect(text).not.toContain('pms-added');
  });

  it('shows the same figures as the README and the performance reference', async () => {
    const [text, readme, reference] = [
      await textOf('/'),
      readFileSync(`${root}README.md`, 'utf8'),
      readFileSync(`${root}docs/reference/performance.md`, 'utf8'),
    ];
    const [, url = '', launch = ''] =
      /RequestLaunchUrl \| (\d+ µs);[^]*?secureLaunch \| (\d+ µs);/.exec(reference) ?? [];
    expect(readme).toMatch(new RegExp(`Issuing a launch URL uses ${url} of CPU, and opening it ${launch}`));
    expect(text).toMatch(new RegExp(`launch URL</dt><dd>${url}<[^]*launch</dt><dd>${launch}<`));
  });
});

it('the practice system of the demo says so if an action needs a request and the patient has none', async () => {
  const { status, text } = await openVisitor().send('/demo/pms/launches', {
    patient: 'record-6',
    action: 'UpdateTest',
  });
  expect([status, text]).toEqual([200, expect.stringContaining('There is no request of this patient yet')]);
});

describe('the host application of the demo', () => {
  it('lists every partner of the registry', async () => {
    const shown = [...(await textOf('/demo/host')).matchAll(/<option value="([^"]+)"/g)];
    expect(shown.map(([, clientId]) => clientId)).toEqual([
      'partner-added',
      'partner-demo',
      'partner-standard',
      'partner-native',
    ]);
  });
});

/** Returns a visitor of the demo whose browser follows no redirects, so that tests can read each answer. */
function openVisitor() {
  let cookie = '';
  const send = async (path: string, fields?: Record<string, string>) => {
    const response = await fetch(platform.url + path, {
      redirect: 'manual',
      headers: { Cookie: cookie },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    });
    cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? cookie;
    const { status, headers } = response;
    return {
      status,
      headers,
      location: headers.get('location') ?? '',
      text: plainText(await response.text()),
    };
  };
  return {
    send,
    /** Requests a launch for a patient, and returns the launch URL. */
    launch: async () =>
      (await send('/demo/pms/launches', { patient: 'record-1', action: 'OrderTest' })).location,
    /** Returns the address of the page that shows the requests of the newest launch. */
    newest: async () => (await send('/demo/wire')).location,
  };
}

/** Returns the request line and the status of each exchange on a page. */
const linesOf = (text: string) =>
  [...text.matchAll(/<code>((?:GET|POST) [^<]+)<\/code>(?: <span class="nhsuk-tag[^>]*>(\d+))?/g)].map(
    ([, line = '', status = '']) => `${line.replaceAll(/[0-9a-f-]{36}/g, '{guid}')} ${status}`.trim(),
  );

describe('the page of a launch', () => {
  const wholeOrder = { patient: 'record-2', action: 'OrderTest' };

  it('shows every request and answer with shortened secrets, and the order', async () => {
    const { send } = openVisitor();
    const { location } = await send('/demo/pms/played', wholeOrder);
    await until(async () => /callbacks<[^]*>204</.test((await send(location)).text));
    const { text } = await send(location);
    expect(linesOf(text)).toEqual(
      expect.arrayContaining([
        'POST /idp/demo/oauth2/v2.0/token 200',
        'POST /AccessApi/RequestLaunchUrl 200',
        'GET /secureLaunch 200',
        'POST /oltr/{guid}/review 303',
        'GET /orders/{guid}/notepad 200',
      ]),
    );
    expect(text).toMatch(/client_secret=pms-dem… \(15 characters\)/);
    expect(text).toMatch(/"client_id": "pms-demo"/);
    expect(text).toMatch(/Set-Cookie: launch-session=.{8}… \(\d+ characters\); Max-Age=1800; Path=/);
    expect(text).not.toMatch(
      /pms-demo-secret<|=pms-demo-secret|ey[\w-]+\.ey[\w-]+\.[\w-]{20}|[?&]launchToken=[\w.-]{20}/,
    );
    expect(text).toMatch(
      /<td[^>]*>Full blood count \(HFBC\)<\/td><td[^>]*>EDTA blood[^<]*<\/td><td[^>]*>Requested</,
    );
    expect(text).toMatch(/3 Nov 1987[^]*943 476 5870[^]*<details[^]*<onlineOrder/);
  });

  it('shows a shortened launch URL, and links each exchange to the audit trail', async () => {
    const { send, launch, newest } = openVisitor();
    const { searchParams } = new URL(await launch());
    const page = await newest();
    const { text } = await send(page);
    expect(linesOf(text)).toEqual([
      'POST /idp/demo/oauth2/v2.0/token 200',
      'POST /AccessApi/RequestLaunchUrl 200',
      'GET /secureLaunch',
    ]);
    for (const secret of ['launchToken', 'codeVerifier'].map((name) => searchParams.get(name) ?? '')) {
      expect(secret.length).toBeGreaterThan(40);
      expect(text).not.toContain(secret);
    }
    const references = [...text.matchAll(/\/audit\/launches\/([0-9a-f-]{36})">Audit trail</g)];
    expect(references).toHaveLength(3);
    const token = await platform.tokenOf('audit-demo');
    const wanted = ['access.token.issued.v1', 'launch.url.issued.v1', 'launch.url.issued.v1'];
    for (const [index, type] of wanted.entries())
      await platform.storyOf(references[index]?.[1] ?? '', [type], token);
  });

  it.each([
    ['again', ['GET /secureLaunch 410']],
    ['verifier', ['POST /AccessApi/RequestLaunchUrl 200', 'GET /secureLaunch 401']],
    ['identifier', ['POST /AccessApi/RequestLaunchUrl 409']],
    ['right', ['POST /idp/demo/oauth2/v2.0/token 200', 'POST /AccessApi/RequestLaunchUrl 403']],
  ])(
    'sends the requests of the launch again with the mistake that the form names: attempt=%s',
    async (attempt, answers) => {
      const { send } = openVisitor();
      const { location } = await send('/demo/pms/played', wholeOrder);
      const { status, location: next } = await send(location, { attempt });
      expect([status, next]).toEqual([303, `${location}#${attempt}`]);
      expect(linesOf((await send(location)).text).slice(-answers.length)).toEqual(answers);
    },
  );

  it('opens the launch URL after it has expired, and shows the answer without JavaScript', async () => {
    const { send, launch, newest } = openVisitor();
    await launch();
    const page = await newest();
    await send(page, { attempt: 'late' });
    const waiting = await send(page);
    expect([waiting.headers.get('refresh'), linesOf(waiting.text).at(-1)]).toEqual([
      expect.stringMatching(/^1[01]$/),
      'POST /AccessApi/RequestLaunchUrl 200',
    ]);
    expect(waiting.text).toMatch(/Waiting: it is sent at \d\d:\d\d:\d\d/);
    clock.advance({ seconds: 12 });
    const { headers, text } = await send(page);
    expect([headers.get('refresh'), linesOf(text).at(-1)]).toEqual([null, 'GET /secureLaunch 401']);
  });

  it('is visible only in the browser of the launch, for half an hour, and only for the last five launches', async () => {
    const { send, launch, newest } = openVisitor();
    await launch();
    const first = await newest();
    expect((await openVisitor().send(first)).status).toBe(404);
    expect((await openVisitor().send('/demo/wire')).text).toContain('This browser has made no launch');
    for (let count = 0; count < 5; count += 1) await launch();
    expect((await send(first)).status).toBe(404);
    const last = await newest();
    expect((await send(last)).text.match(/<li><a href="\/demo\/wire\/[0-9a-f-]{36}">/g)).toHaveLength(4);
    clock.advance({ seconds: 31 * 60 });
    expect((await send(last)).status).toBe(404);
  });
});
