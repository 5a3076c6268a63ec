import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { startChromium } from '@clinical-launch/testing/chromium';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { expectNoSidewaysScrolling, follow } from './accessibility.ts';
import { requestLaunch } from './audit-launches.ts';
import { openStaffBrowser, type StaffBrowser, signInAs } from './audit-staff.ts';
import { MovedClock } from './moved-clock.ts';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

const clock = new MovedClock();
const nhsNumber = '9434765919';
const originatingId = 'HS-4711 of Mrs Whitfield';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let desk: StaffBrowser;
/**
 * The GUIDs of two launches for the patient Whitfield: a launch with an order, and a launch that was never
 * opened.
 */
let ordered: string;
let unopened: string;

beforeAll(async () => {
  [platform, chromium] = await Promise.all([
    startPlatformForTest({ clock, environment: { REFUSALS_PER_ADDRESS: '0' } }),
    startChromium(),
  ]);
  const payload = aServiceRequest({ originatingId });
  unopened = (await requestLaunch(platform, { payload })).guid;
  ordered = await orderInBrowser();
  desk = await openStaffBrowser(chromium);
  await desk.page.goto(`${platform.url}/audit/`);
  await signInAs(desk.page, 'Ruth Adeyemi');
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

/** Plays a launch as a practice does, until the order document arrives. Returns the launch's GUID. */
async function orderInBrowser(): Promise<string> {
  const context = await chromium.newContext();
  const pms = await context.newPage();
  await pms.goto(platform.url);
  await follow(pms, /whitfield/i);
  const opened = context.waitForEvent('page');
  await pms.getByRole('button', { name: 'Order tests', exact: true }).click();
  const oltr = await opened;
  await oltr.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  const [guid = ''] = /[0-9a-f-]{36}/.exec(new URL(oltr.url()).pathname) ?? [];
  await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
  await oltr.getByRole('button', { name: 'Review request' }).click();
  await oltr.getByRole('button', { name: 'Submit request' }).click();
  await oltr.getByRole('heading', { name: 'Request submitted' }).waitFor();
  await pms.getByText('Order document (XML)').waitFor();
  const token = await platform.tokenOf('audit-demo');
  await platform.storyOf(guid, ['order.document.returned.v1', 'order.document.delivered.v1'], token);
  await context.close();
  return guid;
}

const headingOf = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();
const box = (page: Page) => page.getByLabel('Search for', { exact: true });
const open = (page: Page, path: string) => page.goto(platform.url + path);

describe('signing in to the audit pages', () => {
  it('is required for every page, and leads back to the requested page', async () => {
    const { context, page } = await openStaffBrowser(chromium);
    for (const path of ['/audit/', '/audit/patients', '/audit/activity', `/audit/launches/${ordered}`]) {
      await open(page, path);
      expect([path, new URL(page.url()).pathname]).toEqual([
        path,
        expect.stringMatching(/^\/demo\/staff\/sign-in\//),
      ]);
    }
    await expectGoodPage(page, 'audit-sign-in');
    await signInAs(page, 'Gunnar Lindqvist');
    expect(page.url()).toBe(`${platform.url}/audit/launches/${ordered}`);
    await context.close();
  });

  it('never redirects to another site, or to a page outside the audit trail', async () => {
    const { context, page } = await openStaffBrowser(chromium);
    for (const to of [
      'https://stranger.example/audit/',
      '//stranger.example/audit/',
      '/\\stranger.example/audit/',
      '/audit/../demo/pms',
    ]) {
      await context.clearCookies();
      await open(page, `/audit/sign-in?to=${encodeURIComponent(to)}`);
      await signInAs(page, 'Ruth Adeyemi');
      expect([to, page.url()]).toEqual([to, `${platform.url}/audit/`]);
    }
    await context.close();
  });

  it('names a contact for a person without the permission audit.read', async () => {
    const { context, page } = await openStaffBrowser(chromium);
    await open(page, '/audit/');
    await signInAs(page, 'Maeve Doyle');
    expect(await headingOf(page)).toBe('You may not read the audit trail');
    expect(await page.getByText(/^Ask the person who manages user accounts/).count()).toBe(1);
    const response = await open(page, `/audit/launches/${ordered}`);
    expect(response?.status()).toBe(403);
    await expectGoodPage(page, 'audit-no-right');
    await context.close();
  });
});

describe('a session of the audit pages', () => {
  it('is rejected if its cookie was altered or forged', async () => {
    const [cookie] = (await desk.context.cookies()).filter(({ name }) => name === 'audit-session');
    const sealed = cookie?.value ?? '';
    expect([sealed.length > 100, cookie?.httpOnly, cookie?.sameSite, cookie?.path]).toEqual([
      true,
      true,
      'Lax',
      '/audit',
    ]);
    const answerTo = async (value: string) => {
      const headers = { Cookie: `audit-session=${value}` };
      return (await fetch(`${platform.url}/audit/`, { headers, redirect: 'manual' })).status;
    };
    const middle = Math.floor(sealed.length / 2);
    const other = sealed[middle] === 'A' ? 'B' : 'A';
    expect(await answerTo(sealed)).toBe(200);
    expect(await answerTo(sealed.slice(0, middle) + other + sealed.slice(middle + 1))).toBe(303);
    expect(await answerTo(`audit.${Buffer.from('{"mayRead":true}').toString('base64url')}`)).toBe(303);
    // The cookie of an unfinished sign-in is sealed with the same key, but is not a session.
    const begun = await fetch(`${platform.url}/audit/sign-in`, { redirect: 'manual' });
    const [, signIn = ''] = /audit-sign-in=([^;]+)/.exec(begun.headers.get('set-cookie') ?? '') ?? [];
    expect([signIn.length > 100, await answerTo(decodeURIComponent(signIn))]).toEqual([true, 303]);
  });

  it('ends after 30 minutes without a request, and after 8 hours in any case', async () => {
    const { context, page } = await openStaffBrowser(chromium);
    // This request sends and renews the cookies of the browser, but does not render the page.
    const isSignedIn = async () => {
      const response = await context.request.get(`${platform.url}/audit/patients`);
      return new URL(response.url()).pathname === '/audit/patients';
    };
    await open(page, '/audit/');
    await signInAs(page, 'Ruth Adeyemi');
    for (let minutes = 0; minutes < 7 * 60; minutes += 20) {
      clock.advance({ seconds: 20 * 60 });
      expect([minutes, await isSignedIn()]).toEqual([minutes, true]);
    }
    clock.advance({ seconds: 31 * 60 });
    await context.clearCookies({ name: 'staff-session' });
    expect(await isSignedIn()).toBe(false);
    await open(page, '/audit/patients');
    await signInAs(page, 'Ruth Adeyemi');
    await context.clearCookies({ name: 'staff-session' });
    for (let minutes = 0; minutes < 8 * 60 - 20; minutes += 20) {
      clock.advance({ seconds: 20 * 60 });
      expect([minutes, await isSignedIn()]).toEqual([minutes, true]);
    }
    clock.advance({ seconds: 20 * 60 });
    expect(await isSignedIn()).toBe(false);
    await context.close();
  });

  it('ends at both the audit trail and the identity provider when the person signs out', async () => {
    const { context, page, complaints } = await openStaffBrowser(chromium);
    await open(page, '/audit/');
    await signInAs(page, 'Ruth Adeyemi');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(/\/audit\/signed-out/);
    expect(await headingOf(page)).toBe('You have signed out');
    await open(page, '/audit/');
    await page.getByRole('button', { name: 'Sign in as Maeve Doyle' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is left when the person signs out, even if the issuer redirects to the provider behind it', async () => {
    const { context, page, complaints } = await openStaffBrowser(chromium);
    await open(page, '/audit/');
    await signInAs(page, 'Ruth Adeyemi');
    const provider = platform.url.replace('localhost', '127.0.0.1');
    await page.route(/\/demo\/staff\/[^?]*\?.*post_logout_redirect_uri/, (route) =>
      route.fulfill({ status: 302, headers: { Location: `${provider}/audit/signed-out` } }),
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${provider}/audit/signed-out`);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('accepts no form from another site', async () => {
    const [cookie] = (await desk.context.cookies()).filter(({ name }) => name === 'audit-session');
    const headers = { Cookie: `audit-session=${cookie?.value}`, Origin: 'https://stranger.example' };
    for (const path of ['/audit/', '/audit/patients', '/audit/sign-out']) {
      const body = new URLSearchParams({ patientValue: nhsNumber, patientSystem: 'nhs-number' });
      const response = await fetch(platform.url + path, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
      });
      expect([path, response.status]).toEqual([path, 403]);
    }
  });
});

describe('the search of the audit pages', () => {
  const submit = async (page: Page) => {
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.waitForLoadState();
  };
  const openMore = async (page: Page) => {
    await open(page, '/audit/');
    await page.getByText('More', { exact: true }).click();
  };

  it('opens the page of the launch whose reference is entered', async () => {
    const { page } = desk;
    await open(page, '/audit/');
    await expectGoodPage(page, 'audit-search');
    await box(page).fill(` {${ordered.toUpperCase()}} `);
    await submit(page);
    await page.waitForURL(`${platform.url}/audit/launches/${ordered}`);
    expect(await headingOf(page)).toBe('The launch worked and tests were submitted');
    const events = page.getByRole('table', { name: 'Every event' });
    for (const service of ['Launch requests', 'Opening of launches', 'Test requesting', 'Order documents'])
      expect(await events.getByText(service, { exact: true }).count()).toBeGreaterThan(0);
    const parties = await page.locator('.app-parties').innerText();
    expect(parties).toMatch(/Adaeze Okonkwo[^]*a\.okonkwo[^]*Harbour Surgery[^]*B82017[^]*pms-demo/);
    expect(await page.content()).not.toMatch(/Whitfield|9434765919/i);
    await expectGoodPage(page, 'audit-launch');
  });

  it('explains a launch that nobody opened', async () => {
    const { page } = desk;
    await open(page, `/audit/launches/${unopened}`);
    expect(await headingOf(page)).toBe('The launch was never opened');
    expect(await page.locator('#cause').innerText()).toBe(
      'It expired, because no browser opened it within 10 seconds.',
    );
    await expectGoodPage(page, 'audit-expired');
  });

  it('finds launches by practice, user, patient and event group at once, with the matching events inside', async () => {
    const { page } = desk;
    await openMore(page);
    await page.getByLabel('User’s name or username').fill('A.OKONKWO');
    await page.getByLabel('Practice’s name or code').fill('B82017');
    await page.getByLabel('Patient’s number').fill('943 476 5919');
    await page.getByLabel('What happened').selectOption({ label: 'Test requests' });
    await submit(page);
    await page.getByRole('heading', { name: 'Launches and requests, newest first' }).waitFor();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: ordered }) });
    expect(await row.count()).toBe(1);
    expect(await row.innerText()).toContain('The launch worked and tests were submitted');
    await row.getByText(/^\d+ matching events?$/).click();
    expect(await row.getByText('Tests submitted', { exact: true }).count()).toBe(1);
    await open(page, '/audit/?practice=B82017');
    await page.setViewportSize({ width: 1280, height: 900 });
    const heights = await page
      .locator('tbody tr')
      .evaluateAll((rows: { offsetHeight: number }[]) => rows.map(({ offsetHeight }) => offsetHeight));
    expect(heights.length).toBeGreaterThan(1);
    expect(heights.filter((height) => height > 150)).toEqual([]);
    await page.goBack();
    await expectGoodPage(page, 'audit-results');
    await box(page).fill('none of these');
    await submit(page);
    await page.getByRole('heading', { name: 'Nothing was found' }).waitFor();
    await expectGoodPage(page, 'audit-unknown');
  });

  it('downloads the results as a file with one event per line', async () => {
    const { page } = desk;
    await open(page, '/audit/?practice=B82017&group=orders');
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download all events of this search (NDJSON)' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('audit-events.ndjson');
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n');
    const events = lines.map((line) => JSON.parse(line) as { correlationId: string; type: string });
    expect(events).toContainEqual(
      expect.objectContaining({ correlationId: ordered, type: 'order.submitted.v1' }),
    );
    expect((await open(page, '/audit/export'))?.status()).toBe(404);
  });

  it('finds a user and a practice by parts of their names', async () => {
    const { page } = desk;
    await openMore(page);
    await page.getByLabel('User’s name or username').fill('Dr Okonkwo');
    await page.getByLabel('Practice’s name or code').fill('harbour');
    await submit(page);
    await page.getByRole('heading', { name: 'Launches and requests, newest first' }).waitFor();
    expect(page.url()).toMatch(/practice=B82017&user=a\.okonkwo#found$/);
    expect(await page.getByRole('link', { name: ordered }).count()).toBeGreaterThan(0);
  });

  it('finds a launch by its originating id, and keeps that id out of the address', async () => {
    const { page } = desk;
    await openMore(page);
    await page.getByLabel('Caller’s own identifier of the launch').fill(originatingId);
    await submit(page);
    await page.getByRole('heading', { name: 'Launches and requests, newest first' }).waitFor();
    expect(await page.getByRole('link', { name: unopened }).count()).toBe(1);
    expect(page.url()).toMatch(/identifier=audit\.[\w-]+#found$/);
  });

  it('lists the errors of an invalid form instead of searching', async () => {
    const { page } = desk;
    await openMore(page);
    await box(page).fill('943 476 5918');
    await page.getByRole('group', { name: 'From' }).getByLabel('Day').fill('30');
    await page.getByRole('group', { name: 'From' }).getByLabel('Month').fill('2');
    await page.getByRole('group', { name: 'From' }).getByLabel('Year').fill('2026');
    await submit(page);
    const problems = page.getByRole('alert');
    await problems.getByRole('link', { name: /^Enter the first day/ }).waitFor();
    expect(await problems.getByRole('link').count()).toBe(2);
    await expectGoodPage(page, 'audit-faults');
  });

  it.each([
    'client=%00',
    'user=r.adeyemi&practice=%01',
    'client=pms-demo&from=9999-12-31T23:59',
    'client=pms-demo&to=0001-01-01T00:00',
    'patient=x',
    'identifier=x',
    'client=pms-demo&after=999999999999999-1',
  ])('answers 400 to an address with invalid search parameters: %s', async (query) => {
    for (const path of ['/audit/', '/audit/export']) {
      const response = await desk.context.request.get(`${platform.url}${path}?${query}`);
      expect([path, response.status()]).toEqual([path, 400]);
      expect(await response.text()).toMatch(/a value that cannot be searched for/);
    }
  });

  it('answers 400 to a form with a control character, and names the field', async () => {
    const form = { user: 'r.adeyemi\0' };
    const headers = { Origin: platform.url };
    const response = await desk.context.request.post(`${platform.url}/audit/`, { form, headers });
    expect(response.status()).toBe(400);
    expect(await response.text()).toContain('href="#user"');
  });

  it('explains why an unknown reference may have no events', async () => {
    const { page } = desk;
    const response = await open(page, `/audit/launches/${crypto.randomUUID()}`);
    expect([response?.status(), await headingOf(page)]).toEqual([
      404,
      'Nothing was found under this reference',
    ]);
    await expectGoodPage(page, 'audit-not-found');
  });
});

describe('the page “Who has seen this patient”', () => {
  it('lists the users who saw the patient with the entered number, and what each user saw', async () => {
    const { page } = desk;
    await open(page, '/audit/patients');
    await expectGoodPage(page, 'audit-patients');
    await page.getByLabel('Patient’s number').fill('943 476 5918');
    await page.getByRole('button', { name: 'Show who has seen the patient' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Patient’s number').fill('943 476 5919');
    await page.getByRole('button', { name: 'Show who has seen the patient' }).click();
    await page.getByRole('heading', { name: 'Who has seen this patient' }).waitFor();
    const rows = page.getByRole('row').filter({ hasText: 'a.okonkwo' });
    const text = (await rows.allInnerTexts()).join();
    expect(text).toMatch(/Adaeze Okonkwo[^]*Harbour Surgery/);
    for (const what of ['Opened a launch', 'Ordered', 'Received the order document'])
      expect(text).toContain(what);
    await expectGoodPage(page, 'audit-patient');
  });
});

describe('the page of recent activity', () => {
  it.each([
    ['Last hour', 1],
    ['Last 6 hours', 6],
    ['Last 24 hours', 24],
  ])('shows the figures of each interval, and their sums: %s', async (name, hours) => {
    const { page } = desk;
    await open(page, '/audit/activity');
    await Promise.all([
      page.waitForURL(`${platform.url}/audit/activity?hours=${hours}`),
      page.getByRole('link', { name, exact: true }).click(),
    ]);
    const rows = await page.getByRole('table', { name: 'By time' }).locator('tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()));
    const totals = cells.pop()?.map(Number) ?? [];
    expect(totals.length).toBe(6);
    expect(totals.map((_, at) => cells.reduce((sum, row) => sum + Number(row[at]), 0))).toEqual(totals);
  });

  it('counts issued, opened, unopened, ordered and delivered launches per client', async () => {
    const { page } = desk;
    await open(page, '/audit/activity?hours=24');
    const row = page.getByRole('table', { name: 'By client' }).getByRole('row', { name: /^pms-demo/ });
    expect((await row.getByRole('cell').allInnerTexts()).map(Number)).toEqual([2, 1, 1, 0, 1, 1]);
    await expectGoodPage(page, 'audit-activity');
  });
});

describe('a browser without JavaScript, 320 pixels wide', () => {
  it('shows every page, from the sign-in to the activity', async () => {
    const { context, page } = await openStaffBrowser(chromium, {
      javaScriptEnabled: false,
      viewport: { width: 320, height: 640 },
    });
    await open(page, '/audit/');
    await signInAs(page, 'Gunnar Lindqvist');
    await box(page).fill(ordered);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('heading', { name: 'The launch worked and tests were submitted' }).waitFor();
    await expectNoSidewaysScrolling(page);
    await page.getByRole('link', { name: 'Who has seen this patient' }).click();
    await page.getByRole('heading', { name: 'Who has seen this patient' }).waitFor();
    await expectNoSidewaysScrolling(page);
    for (const path of ['/audit/?user=a.okonkwo', '/audit/patients', '/audit/activity?hours=24']) {
      await open(page, path);
      await expectNoSidewaysScrolling(page);
    }
    await context.close();
  });
});

describe('the audit trail', () => {
  it('records every search and the person who made it', async () => {
    const { page } = desk;
    await open(page, `/audit/launches/${ordered}`);
    await expectLastSearch({
      clientId: 'audit-pages',
      searchedId: ordered,
      criteria: ['correlationId'],
      format: 'page',
      user: { username: 'r.adeyemi', name: 'Ruth Adeyemi' },
    });
    await open(page, '/audit/?user=a.okonkwo&practice=B82017');
    await expectLastSearch({ criteria: ['user', 'practice'] });
    const pseudonym = /[\w-]{43}/.exec(
      desk.addresses.findLast((address) => /patients\/./.test(address)) ?? '',
    )?.[0];
    await desk.context.request.get(`${platform.url}/audit/export?patient=${pseudonym}`);
    await expectLastSearch({ criteria: ['patient'], patient: pseudonym, format: 'ndjson' });
  });

  it('records refused requests and sign-ins, including those of people who may not read the audit trail', async () => {
    await eventOf('user=r.adeyemi&type=audit.session.started.v1', { clientId: 'audit-pages' });
    const withoutRight = { reason: 'insufficient_scope', status: 403, interface: 'pages' };
    await eventOf('user=m.doyle&type=audit.refused.v1', withoutRight);
    expect((await fetch(`${platform.url}/audit/callback?code=1&state=2`)).status).toBe(400);
    await eventOf('type=audit.refused.v1&reason=sign_in_failed', { status: 400, interface: 'pages' });
    const headers = { Authorization: `Bearer ${await platform.tokenOf('pms-demo')}` };
    expect((await fetch(`${platform.url}/audit/events?user=x`, { headers })).status).toBe(403);
    expect((await fetch(`${platform.url}/audit/AuditEvent?entity=x`)).status).toBe(401);
    await eventOf('client=pms-demo&type=audit.refused.v1', { status: 403, interface: 'events' });
    await eventOf('type=audit.refused.v1&reason=invalid_token', { status: 401, interface: 'fhir' });
  });

  /**
   * Waits until the newest search event contains this data, because events reach the audit trail later,
   * through an outbox.
   */
  async function expectLastSearch(data: object) {
    let last: object | undefined;
    const isLast = async () => {
      const [newest] = await findEvents('user=r.adeyemi&type=audit.searched.v1');
      last = newest?.data;
      return last !== undefined && isSupersetOf(last, data);
    };
    await until(isLast, () => `the last search had ${JSON.stringify(data)}, not ${JSON.stringify(last)}`);
  }

  async function findEvents(query: string) {
    const token = await platform.tokenOf('audit-demo');
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${platform.url}/audit/events?${query}`, { headers });
    const { entries } = (await response.json()) as { entries: { event: { data: object } }[] };
    return entries.map(({ event }) => event);
  }

  /** Waits for an event with this data. */
  async function eventOf(query: string, data: object) {
    const isStored = async () => (await findEvents(query)).some((event) => isSupersetOf(event.data, data));
    await until(isStored, () => query);
  }

  const isSupersetOf = (whole: object, part: object) =>
    Object.entries(part).every(([name, value]) =>
      isDeepStrictEqual((whole as Record<string, unknown>)[name], value),
    );

  it('has no page whose address contains the number or name of a patient', () => {
    const number = /943[ +%20-]*476[ +%20-]*591|4711|Whitfield/;
    expect(desk.addresses.length).toBeGreaterThan(50);
    // A random GUID may contain these digits.
    const guid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
    const readable = desk.addresses.map((address) => decodeURIComponent(address).replaceAll(guid, 'GUID'));
    expect(readable.filter((address) => number.test(address))).toEqual([]);
    // If the browser reported no errors, no script or style was blocked.
    expect(desk.complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
  });
});
