import { actions } from '@clinical-launch/contracts/launch-context';
import { launchSessionIdleSeconds } from '@clinical-launch/pages/launch-session';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readOrderingConfig } from '../src/config.ts';
import {
  type Application,
  aLaunchContext,
  fetchWhole,
  press,
  publicUrl,
  rowsOf,
  startOrdering,
  submit,
  tickedIn,
  toForm,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const choice = [
  ['test', 'HFBC'],
  ['action', 'update'],
] as const;

describe('the launch session', () => {
  it('opens the home page of the launch, and responses have the launch id as X-Correlation-Id', async () => {
    const launch = await application.openLaunch();
    const response = await launch.send('');
    expect(response.status).toBe(200);
    expect(response.headers.get('x-correlation-id')).toBe(launch.launchId);
    const unslashed = await launch.send(launch.home.slice(0, -1));
    expect([unslashed.status, unslashed.headers.get('location')]).toEqual([308, launch.home]);
  });

  it.each([
    ['no cookie', ''],
    ['a wrong ticket', '__Secure-launch-session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['an empty ticket', '__Secure-launch-session='],
  ])('is required for every page and form: a request with %s is answered 401', async (_case, cookie) => {
    const { home } = await application.openLaunch();
    const pages = ['', 'review', 'requests', 'orders/4f9f3b0e-0000-4000-8000-000000000000'];
    const forms = ['', 'review', 'requests', 'chosen', 'matches'];
    for (const [method, paths] of [
      ['GET', pages],
      ['POST', forms],
    ] as const) {
      for (const path of paths) {
        const response = await fetchWhole(application.url + home + path, {
          method,
          headers: { cookie },
          ...(method === 'POST' ? { body: toForm(choice) } : {}),
        });
        expect([method, path, response.status]).toEqual([method, path, 401]);
        const html = await response.text();
        expect(html).toContain('Your session has ended');
        expect(html).toContain('Start again from your practice system');
      }
    }
  });

  it('ends thirty minutes after the last request, and each request extends it', async () => {
    const launch = await application.openLaunch();
    application.clock.advance({ seconds: launchSessionIdleSeconds - 1 });
    expect((await launch.send('')).status).toBe(200);
    application.clock.advance({ seconds: launchSessionIdleSeconds - 1 });
    expect((await launch.post('', choice)).status).toBe(303);
    application.clock.advance({ seconds: launchSessionIdleSeconds });
    expect((await launch.send('')).status).toBe(401);
  });

  it('is confirmed by a GET of /session-state, which does not extend it', async () => {
    const launch = await application.openLaunch();
    application.clock.advance({ seconds: launchSessionIdleSeconds - 1 });
    expect((await launch.send('session-state')).status).toBe(204);
    application.clock.advance({ seconds: 1 });
    expect((await launch.send('session-state')).status).toBe(401);
  });

  it('is described on each page: when it ends, in local time, and whether a request extends it', async () => {
    const launch = await application.openLaunch(aLaunchContext(), { chainSeconds: 2700 });
    const timeAfter = (seconds: number) =>
      new Date(application.clock.now() + seconds * 1000).toISOString().slice(11, 16);
    expect(await launch.page()).toContain(
      `Your session ends at ${timeAfter(1800)} unless you continue before then.`,
    );
    const end = timeAfter(2700);
    application.clock.advance({ seconds: 900 });
    // The idle timeout now ends at the absolute end of the session, so further requests do not extend the
    // session.
    expect(await launch.page()).toContain(`Your session ends at ${end}.`);
  });

  it('is extended by a POST to /session, but not from another site', async () => {
    const launch = await application.openLaunch();
    application.clock.advance({ seconds: launchSessionIdleSeconds - 1 });
    expect((await launch.post('session', [['launch', launch.launchId]])).status).toBe(204);
    application.clock.advance({ seconds: launchSessionIdleSeconds - 1 });
    const foreign = await launch.post('session', [], { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    application.clock.advance({ seconds: 1 });
    expect((await launch.post('session', [])).status).toBe(401);
  });

  it('has a cookie that ends when the session ends, and that each request of the launch renews', async () => {
    const launch = await application.openLaunch(aLaunchContext(), { chainSeconds: 2700 });
    const lifeIn = ({ headers }: Response) =>
      /^__Secure-launch-session=[^;]+; Max-Age=(\d+);/m.exec(headers.getSetCookie().join('\n'))?.[1];
    expect(lifeIn(await launch.send(''))).toBe('1800');
    application.clock.advance({ seconds: 1200 });
    expect(lifeIn(await launch.post('session', []))).toBe('1500');
    expect(lifeIn(await launch.send('session-state'))).toBeUndefined();
  });

  it('is found among cookies of the same name that another host has set for the parent domain', async () => {
    const launch = await application.openLaunch();
    const attackers = await application.openLaunch();
    const withTossed = (...values: string[]) => ({
      headers: {
        cookie: [...values.map((value) => `__Secure-launch-session=${value}`), launch.cookie].join('; '),
      },
    });
    expect((await launch.send('', withTossed('tossed'))).status).toBe(200);
    expect((await launch.send('', withTossed(attackers.ticket, '', 'x', 'y'))).status).toBe(200);
    // The service tries only the first four values of the cookie, and the ticket is the fifth value.
    expect((await launch.send('', withTossed('1', '2', '3', '4'))).status).toBe(401);
  });

  it('is not read from a cookie without the prefix __Secure-, which a host without TLS can set', async () => {
    const launch = await application.openLaunch();
    const headers = { cookie: `launch-session=${launch.ticket}` };
    expect((await launch.send('', { headers })).status).toBe(401);
  });

  it('ends at the absolute end of its launch, even if requests continue to extend it', async () => {
    const launch = await application.openLaunch(aLaunchContext(), { chainSeconds: 12 * 3600 });
    for (let hours = 0; hours < 12; hours += 0.25) {
      expect([hours, (await launch.send('')).status]).toEqual([hours, 200]);
      application.clock.advance({ seconds: 900 });
    }
    const ended = await launch.send('');
    expect([ended.status, await ended.text()]).toEqual([
      401,
      expect.stringContaining('Your session has ended'),
    ]);
  });

  it('has its own rate limit: requests beyond the limit are answered 429, and another session is not affected', async () => {
    const limited = await startOrdering(undefined, undefined, { requestsPerSecondPerSession: 2 });
    const [launch, other] = [await limited.openLaunch(), await limited.openLaunch()];
    const statuses = async () => [(await launch.send('')).status, (await launch.send('review')).status];
    expect(await statuses()).toEqual([200, 303]);
    const refused = await launch.post('', choice);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.text()).toContain('Too many requests in a short time');
    expect((await other.send('')).status).toBe(200);
    limited.clock.advance({ seconds: 1 });
    expect(await statuses()).toEqual([200, 303]);
    await limited.stop();
  });

  it('is limited to 30 requests a second by default', () => {
    const { requestsPerSecondPerSession } = readOrderingConfig({ PUBLIC_URL: publicUrl });
    expect(requestsPerSecondPerSession).toBe(30);
  });

  it('is refused if the cookie contains a launch token (401) or the content of the session is invalid (500)', async () => {
    const context = aLaunchContext();
    const request = { ttlSeconds: 60, correlationId: context.launchId, events: [] };
    const token = await application.tickets.issue('launch-token', { ...request, context });
    const broken = await application.tickets.issue('launch-session', {
      ...request,
      context: { launchId: context.launchId },
    });
    const statuses = [];
    for (const issue of [token, broken]) {
      const ticket = issue.outcome === 'issued' ? issue.ticket : '';
      const response = await fetchWhole(`${application.url}/oltr/${context.launchId}/`, {
        headers: { cookie: `__Secure-launch-session=${ticket}` },
      });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([401, 500]);
  });

  it('is accepted if a newer release added members that this release does not know', async () => {
    const { request, ...context } = aLaunchContext();
    const patient = { ...request.patient, newer: { member: 1 } };
    const issue = await application.tickets.issue('launch-session', {
      ttlSeconds: 60,
      correlationId: context.launchId,
      events: [],
      context: { ...context, newer: 'member', request: { ...request, patient } },
    });
    const ticket = issue.outcome === 'issued' ? issue.ticket : '';
    const response = await fetchWhole(`${application.url}/oltr/${context.launchId}/`, {
      headers: { cookie: `__Secure-launch-session=${ticket}` },
    });
    expect(response.status).toBe(200);
  });

  it('opens only its own launch: pages and forms of another launch are answered 401', async () => {
    const [one, other] = [await application.openLaunch(), await application.openLaunch()];
    await press(one, 'update', { tick: ['HFBC'] });
    await press(other, 'update', { tick: ['XCXR'] });
    expect((await one.send(other.home)).status).toBe(401);
    expect((await one.post(other.home, choice)).status).toBe(401);
    expect((await one.post(`${other.home}review`, [['action', 'submit']])).status).toBe(401);
    expect([tickedIn(await one.page()), tickedIn(await other.page())]).toEqual([['HFBC'], ['XCXR']]);
  });

  it('is not needed for the start page, which asks the user to start from the practice system', async () => {
    for (const path of ['/oltr/', '/oltr']) {
      const response = await fetchWhole(application.url + path);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('Start from your practice system');
    }
    for (const path of ['/oltr/nowhere', '/oltr/nowhere/', '/oltr/nowhere/review']) {
      const { status, headers } = await fetchWhole(application.url + path);
      expect(status).toBe(404);
      expect(headers.get('content-security-policy')).toContain("style-src 'self'");
    }
  });
});

describe('a forged form from another site', () => {
  it.each([
    ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    [
      'Sec-Fetch-Site: same-site',
      { 'sec-fetch-site': 'same-site', origin: 'https://other.example.org' },
      403,
    ],
    ['a foreign Origin', { origin: 'https://attacker.example' }, 403],
    ['Origin: null', { origin: 'null' }, 403],
    ['a foreign site that claims our Origin', { 'sec-fetch-site': 'cross-site', origin: publicUrl }, 403],
    ['our own Origin', { origin: publicUrl }, 303],
    ['our own page', { 'sec-fetch-site': 'same-origin', origin: publicUrl }, 303],
    ['a program that is not a browser', {}, 303],
  ])('is recognised by its headers, unlike a form of the service: %s', async (_case, headers, status) => {
    const launch = await application.openLaunch();
    expect((await launch.post('', choice, headers)).status).toBe(status);
    expect(tickedIn(await launch.page())).toEqual(status === 303 ? ['HFBC'] : []);
  });
});

it('the pages have the referrer policy same-origin, so that browsers send Origin with their forms', async () => {
  const launch = await application.openLaunch();
  expect((await launch.send('')).headers.get('referrer-policy')).toBe('same-origin');
});

describe('every action except OrderTest', () => {
  it.each(actions.filter((action) => action !== 'OrderTest'))(
    'answers 403 to every form of an order, and stores nothing: %s',
    async (action) => {
      const launch = await application.openLaunch(aLaunchContext({ request: { action } }));
      for (const path of ['', 'chosen', 'matches', 'review']) {
        const refused = await launch.post(path, [...choice, ['version', '1']]);
        expect([path, refused.status]).toEqual([path, 403]);
      }
      const submitted = await launch.post('review', [
        ['version', '0'],
        ['action', 'submit'],
      ]);
      expect(submitted.status).toBe(403);
      expect((await launch.send('review')).status).toBe(403);
      expect(await rowsOf(application, launch)).toEqual([]);
    },
  );
});

describe('text from a patient record', () => {
  const hostile = {
    ...aLaunchContext().request.patient,
    name: {
      title: 'Prof. Dr',
      family: "Ó Súilleabháin-D'Ângelo & <Sons>",
      given: ['Zoë “Zee”', 'محمد', '𠮷野'],
    },
    previousFamilyName: '<img src=x onerror=alert(1)>',
    address: { lines: [']]> </textarea> &amp; "The Barn"', '{{ 7 * 7 }}'], postalCode: 'LL55 4TF' },
    identifiers: [{ system: 'hospital-number' as const, value: '"><script>' }],
  };
  const names = {
    patient: hostile,
    author: { username: 'x', name: { family: '</dd><b>', given: [] } },
    practice: {
      identifier: { system: 'local-org-code' as const, value: 'HS' },
      name: '<Harbour> & "Surgery"',
    },
  };

  it('is escaped on every page', async () => {
    const launch = await application.openLaunch(aLaunchContext({ request: names }));
    const choosing = await launch.page();
    await press(launch, 'review', { tick: ['HFBC'] });
    const review = await launch.page('review');
    const result = await launch.page(
      (await submit(launch, '</textarea><script>')).headers.get('location') ?? '',
    );
    for (const html of [choosing, review, result]) {
      expect(html).toContain(
        'Ó SÚILLEABHÁIN-D&#39;ÂNGELO &amp; &lt;SONS&gt;, Zoë “Zee” محمد 𠮷野 (Prof. Dr)',
      );
      expect(html).toContain(
        ']]&gt; &lt;/textarea&gt; &amp;amp; &quot;The Barn&quot;, {{ 7 * 7 }}, LL55 4TF',
      );
      for (const raw of ['<SONS>', '<img src=x', '"><script>', '</dd><b>', '<Harbour>', ']]> </textarea>']) {
        expect(html).not.toContain(raw);
      }
    }
    expect(review).toContain('&lt;Harbour&gt; &amp; &quot;Surgery&quot;');
  });

  it('never appears in a log line or a URL', async () => {
    const launch = await application.openLaunch(aLaunchContext({ request: names }));
    const addresses: string[] = [];
    const visit = async (path: string) => {
      const html = await launch.page(path);
      addresses.push(
        ...[...html.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, address = '']) => address),
      );
    };
    const follow = async (response: Response) => {
      addresses.push(response.headers.get('location') ?? '');
      await visit(response.headers.get('location') ?? '');
    };
    await visit('');
    await follow(await press(launch, 'search', { tick: ['VHIV'], q: 'Súilleabháin HIV' }));
    await launch.post('matches', [['q', 'Súilleabháin HIV']]);
    await follow(await press(launch, 'add-set:antenatal-booking'));
    await launch.post('', [['action', 'Súilleabháin']]);
    await follow(await press(launch, 'review'));
    await follow(await submit(launch, 'Súilleabháin is pregnant'));
    const written = [
      ...application.lines.filter((line) => line.includes(launch.launchId)),
      ...addresses,
    ].join('\n');
    expect(application.lines.filter((line) => line.includes(launch.launchId)).length).toBeGreaterThan(8);
    for (const word of [
      'Súilleabháin',
      'S%C3%BA',
      'The Barn',
      'LL55',
      '1958-02-28',
      'February 1958',
      'HIV',
      'antenatal',
      'pregnant',
      launch.ticket,
    ]) {
      expect(written).not.toContain(word);
    }
  });
});
