import { Unavailable } from '@clinical-launch/contracts/unavailable';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openOrderingDatabase } from '../src/store/database.ts';
import { anOrderToChange, locationOf, openChange, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  fieldValues,
  type OpenLaunch,
  openAction,
  rowsOf,
  startOrdering,
  submit,
  TestBrowser,
  tokenIn,
} from './launches.ts';
import { publishedBy } from './published-events.ts';
import { filledIn, recordedOf, samplesPage, taken } from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const user = aLaunchContext().request.author;
const other = { name: { family: 'Hughes', given: ['Siân'] }, birthDate: '1990-05-01' };

/** Opens a launch of the same user for a patient, and reads its first page. */
async function open(browser: TestBrowser, patient = aPatient(), context = contextFor(patient)) {
  const launch = await application.openLaunch(context, { browser });
  const response = await launch.send('');
  if (response.status === 303) await launch.send(response.headers.get('location') ?? '');
  return launch;
}

const contextFor = (patient = aPatient(), action: 'OrderTest' | 'LocationSampleQueue' = 'OrderTest') =>
  aLaunchContext({ request: { patient, author: user, action } });

/** Opens a launch in a browser, and chooses a test. */
async function ordering(browser: TestBrowser, patient = aPatient()) {
  const launch = await open(browser, patient);
  await launch.post('', [
    ['test', 'HFBC'],
    ['action', 'review'],
  ]);
  return launch;
}

/** Sends the form of a review page, with its hidden fields. */
const sendReview = (launch: OpenLaunch, html: string, details = 'Tired') =>
  launch.post('review', [
    ['version', fieldValues(html, 'version')[0] ?? ''],
    ['window', tokenIn(html) ?? ''],
    ['details', details],
    ['action', 'submit'],
  ]);

const workHere = (launch: OpenLaunch, to = 'review') => launch.post('window', [['to', to]]);
const heading = (html: string) => /<h1[^>]*>([^<]*)/.exec(html)?.[1];
const isLocked = async (launch: OpenLaunch, path = '') => (await launch.send(path)).status === 409;

describe('a window after another patient was opened in the same browser', () => {
  it('shows a notice instead of its pages, even after a reload, and names both patients', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    await open(browser, aPatient(other));
    for (const path of ['', 'review', 'review?check', '']) {
      const response = await mine.send(path);
      const html = await response.text();
      expect([response.status, heading(html)]).toEqual([409, 'Another patient has been opened']);
      const notice = html.replace(/<\/?span[^>]*>/g, '');
      expect(notice).toContain('<bdi translate="no">HUGHES, Siân</bdi>, born 1 May 1990');
      expect(notice).toContain(
        '<strong><bdi translate="no">WHITFIELD, Margaret Anne (Mrs)</bdi></strong>, born 28 Feb',
      );
      expect(/<title>([^<]*)/.exec(html)?.[1]).toBe('This window is locked – Online test requesting');
    }
  });

  it('submits nothing, keeps the typed text, and can submit the text once the user has chosen the window', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const html = await mine.page('review');
    await open(browser, aPatient(other));
    const refused = await sendReview(mine, html, 'Tired for three weeks');
    expect([refused.status, heading(await refused.text())]).toEqual([409, 'Another patient has been opened']);
    expect(await rowsOf(application, mine)).toEqual([]);
    expect(locationOf(await workHere(mine))).toBe(`${mine.home}review`);
    const again = await mine.page('review');
    expect(again).toContain('Tired for three weeks');
    expect(locationOf(await sendReview(mine, again, 'Tired for three weeks'))).toContain('/orders/');
  });

  it('locks the window of the other patient when the user chooses this window', async () => {
    const browser = new TestBrowser();
    const [mine, second] = [await ordering(browser), await ordering(browser, aPatient(other))];
    await workHere(mine);
    expect([await isLocked(mine), await isLocked(second)]).toEqual([false, true]);
    expect((await submit(second)).status).toBe(409);
    await workHere(second);
    expect([await isLocked(mine), await isLocked(second)]).toEqual([true, false]);
  });

  it('stores added tests, and text that a script saves while the user types', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const html = await mine.page('review');
    await open(browser, aPatient(other));
    const saved = await mine.post('review/draft', [
      ['details', 'Bruises'],
      ['page', /data-page="([^"]*)"/.exec(html)?.[1] ?? ''],
      ['edits', /data-edits="([^"]*)"/.exec(html)?.[1] ?? ''],
      ['sequence', '1'],
    ]);
    expect(saved.status).toBe(204);
    await mine.post('chosen', [['action', 'add:BUE']]);
    await workHere(mine);
    const again = await mine.page('review');
    expect([again.includes('Bruises'), again.includes('Urea')]).toEqual([true, true]);
  });

  it('refuses the form of a page from before the lock, even if its patient was opened again', async () => {
    const browser = new TestBrowser();
    const patient = aPatient();
    const mine = await ordering(browser, patient);
    const html = await mine.page('review');
    await open(browser, aPatient(other));
    await open(browser, patient);
    const refused = await sendReview(mine, html);
    expect([refused.status, heading(await refused.text())]).toEqual([409, 'This window was locked']);
    expect(await rowsOf(application, mine)).toEqual([]);
    expect(locationOf(await sendReview(mine, await mine.page('review')))).toContain('/orders/');
  });

  it('answers a form that submitted an order before the lock with the result page of that order', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const html = await mine.page('review');
    const first = await sendReview(mine, html);
    await open(browser, aPatient(other));
    expect(locationOf(await sendReview(mine, html))).toBe(locationOf(first));
    const result = await mine.send(locationOf(first) ?? '');
    expect([result.status, (await result.text()).includes('Another patient was opened')]).toEqual([
      200,
      true,
    ]);
  });
});

describe('windows that do not lock each other', () => {
  it('include windows of the same user and patient, even in several launches', async () => {
    const browser = new TestBrowser();
    const patient = aPatient();
    const [mine, again] = [await ordering(browser, patient), await ordering(browser, patient)];
    expect([await isLocked(mine), await isLocked(again)]).toEqual([false, false]);
    expect(locationOf(await submit(mine))).toContain('/orders/');
  });

  it('include windows of different browsers, although a page says that the user opened another patient elsewhere', async () => {
    const mine = await ordering(new TestBrowser());
    application.clock.advance({ seconds: 60 });
    await ordering(new TestBrowser(), aPatient(other));
    const html = await mine.page('review');
    expect(html).toContain('You opened another patient in another browser or on another computer');
    expect(html).not.toContain('HUGHES');
    expect(locationOf(await sendReview(mine, html))).toContain('/orders/');
  });

  it.each(['PatientReport', 'PatientReportList', 'LocationReportList'] as const)(
    'include read-only windows: %s shows a warning instead',
    async (action) => {
      const ordered = await anOrder(application, ['HFBC'], contextFor());
      const browser = new TestBrowser();
      const { request, client } = ordered.context;
      const reading = await open(
        browser,
        request.patient,
        aLaunchContext({ client, request: { ...request, action } }),
      );
      await open(browser, aPatient(other));
      const response = await reading.send(`requests/${ordered.guid}`);
      const html = await response.text();
      expect([response.status, html.includes('Another patient was opened in another window since')]).toEqual([
        200,
        true,
      ]);
    },
  );
});

describe('the patient of another window', () => {
  it.each([
    ['another user', { author: { ...user, username: 'another' } }],
    [
      'another practice',
      {
        practice: {
          ...aLaunchContext().request.practice,
          identifier: { system: 'ods-organization-code' as const, value: 'B99999' },
        },
      },
    ],
  ])('is not named to %s', async (_who, changes) => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const patient = aPatient(other);
    const request = { ...contextFor(patient).request, ...changes };
    await open(browser, patient, aLaunchContext({ request }));
    const html = await mine.page('');
    expect(html).toContain('Another patient or another user was opened in another window');
    expect(html).not.toContain('HUGHES');
  });

  it('may be the same patient, but the first window is locked if another user opened that patient', async () => {
    const browser = new TestBrowser();
    const patient = aPatient();
    const mine = await ordering(browser, patient);
    const request = { ...contextFor(patient).request, author: { ...user, username: 'another' } };
    await open(browser, patient, aLaunchContext({ request }));
    expect(await isLocked(mine)).toBe(true);
  });

  it('is not named if a list of the whole practice was opened', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const queue = await open(browser, aPatient(), contextFor(aPatient(other), 'LocationSampleQueue'));
    expect(await mine.page('')).toContain('A list of your whole practice was opened');
    await workHere(mine, '');
    expect(await queue.page('requests')).not.toContain('HUGHES');
  });
});

describe('a change and the samples of a request', () => {
  it('are refused in a locked window: after the notice, the review of a change contains the typed text', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const change = await openChange(application, ordered);
    await change.page(`${change.at}review`);
    await open(change.browser, aPatient(other));
    expect(await isLocked(change, change.at)).toBe(true);
    const refused = await change.post(`${change.at}review`, [
      ['version', '0'],
      ['details', 'Dizzy'],
      ['action', 'submit'],
    ]);
    expect(refused.status).toBe(409);
    expect(locationOf(await workHere(change, `${change.at}review`))).toBe(`${change.home}${change.at}review`);
    expect(await change.page(`${change.at}review`)).toContain('Dizzy');
    expect(locationOf(await submitChange(change))).toContain('/orders/');
  });

  it('are refused in a locked window: after the notice, the page for samples contains the typed values', async () => {
    const ordered = await anOrder(application, ['HFBC']);
    const queue = await openAction(application, 'PatientSampleQueue', ordered);
    const html = await queue.page(samplesPage(queue));
    await open(queue.browser, aPatient(other));
    const fields = filledIn(html, { ...taken('S1'), by: 'Nurse Hill' });
    const refused = await queue.post(samplesPage(queue), [...fields]);
    expect(refused.status).toBe(409);
    expect((await recordedOf(application, ordered))['S1']).not.toHaveProperty('completedAt');
    const notice = filledFrom(await refused.text());
    expect(notice.get('by')).toBe('Nurse Hill');
    const shown = await queue.post(samplesPage(queue), [...notice, ['action', 'work-here']]);
    const page = await shown.text();
    expect(shown.status).toBe(200);
    expect(page).toContain('value="Nurse Hill"');
    expect((await queue.post(samplesPage(queue), [...filledIn(page)])).status).toBe(303);
    expect((await recordedOf(application, ordered))['S1']).toHaveProperty('completedAt');
  });
});

/** Returns the hidden fields of the form in the notice of a locked window. */
const filledFrom = (html: string) =>
  new Map(
    [
      ...html.slice(html.indexOf('app-lock__form')).matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g),
    ].map(([, name = '', value = '']) => [name, value] as const),
  );

describe('the cookie of a browser', () => {
  it.each([
    [[], 'Path=/oltr/; HttpOnly; Secure; SameSite=Lax'],
    [['https://pms.example'], 'Path=/oltr/; HttpOnly; Secure; Partitioned; SameSite=None'],
  ])('has the attributes of the session cookie: framed by %j', async (frameAncestors, attributes) => {
    const launch = await application.openLaunch(aLaunchContext({ client: { frameAncestors } }));
    const sent = async () =>
      (await launch.send('')).headers
        .getSetCookie()
        .filter((cookie) => cookie.startsWith('__Secure-browser='))
        .map((cookie) => cookie.replace(/=[\w-]{43};/, '=…;'));
    expect(await sent()).toEqual([`__Secure-browser=…; ${attributes}`]);
    expect(await sent()).toEqual([]);
  });

  it('is replaced if it was forged, and a submission without it is refused', async () => {
    const browser = new TestBrowser();
    browser.cookie = `__Secure-browser=${'A'.repeat(43)}`;
    const mine = await ordering(browser);
    expect(browser.cookie).not.toContain('AAAA');
    const html = await mine.page('review');
    const { cookie } = browser;
    for (const forged of [undefined, `__Secure-browser=${'A'.repeat(43)}`, '__Secure-browser=']) {
      browser.cookie = forged;
      expect((await sendReview(mine, html)).status).toBe(409);
    }
    expect(await rowsOf(application, mine)).toEqual([]);
    browser.cookie = cookie;
    await workHere(mine);
    expect(locationOf(await sendReview(mine, await mine.page('review')))).toContain('/orders/');
  });

  it('that belongs to another user gives no access, submits nothing and reveals no patient', async () => {
    const theirs = await ordering(new TestBrowser(), aPatient(other));
    const html = await theirs.page('review');
    const request = { ...contextFor().request, author: { ...user, username: 'thief' } };
    const mine = await application.openLaunch(aLaunchContext({ request }));
    await mine.post('', [
      ['test', 'HFBC'],
      ['action', 'review'],
    ]);
    const review = await mine.page('review');
    mine.browser.cookie = theirs.browser.cookie;
    const refused = await mine.post('review', [
      ['version', fieldValues(review, 'version')[0] ?? ''],
      ['window', tokenIn(html) ?? ''],
      ['action', 'submit'],
    ]);
    expect([refused.status, (await refused.text()).includes('HUGHES')]).toEqual([409, false]);
    expect(await rowsOf(application, mine)).toEqual([]);
    expect(locationOf(await sendReview(theirs, html))).toContain('/orders/');
  });

  it('must belong to the chosen window, as must a second cookie of the same name', async () => {
    const [mine, second] = [
      await ordering(new TestBrowser()),
      await ordering(new TestBrowser(), aPatient(other)),
    ];
    const html = await mine.page('review');
    mine.browser.cookie = `${mine.browser.cookie}; ${second.browser.cookie}`;
    expect((await sendReview(mine, html)).status).toBe(409);
    await workHere(mine);
    expect(await isLocked(second)).toBe(true);
    expect(locationOf(await sendReview(mine, await mine.page('review')))).toContain('/orders/');
  });
});

describe('a request that shows no page to the user', () => {
  it('locks nothing: a prefetch is refused, and HEAD opens no window', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const launch = await application.openLaunch(contextFor(aPatient(other)), { browser });
    expect(
      (await launch.send('', { headers: { 'Sec-Purpose': 'prefetch', cookie: launch.cookie } })).status,
    ).toBe(400);
    expect((await launch.send('', { method: 'HEAD' })).status).toBe(200);
    expect(await isLocked(mine)).toBe(false);
  });

  it('is refused if the target of its form is not a page of the launch', async () => {
    const mine = await ordering(new TestBrowser());
    for (const to of ['//evil.example', 'https://evil.example/', '../../sign-out', 'window', 'orders/x']) {
      expect([to, (await workHere(mine, to)).status]).toEqual([to, 400]);
    }
  });
});

describe('a submission while another patient is being opened', () => {
  /** Waits until `count` database connections wait for a lock. */
  const someoneWaits = async (count: number) => {
    const database = await openOrderingDatabase(application.storage);
    await until(async () => {
      const { rows } = await sql<{ waiting: number }>`
        select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
      return rows[0]?.waiting === count;
    });
  };

  /**
   * Blocks writes to a table. Sends the requests one after the other, each when the previous request waits.
   */
  async function whileBlocked(table: string, requests: readonly (() => Promise<Response>)[]) {
    const database = await openOrderingDatabase(application.storage);
    const answers: Promise<Response>[] = [];
    await database.transaction().execute(async (tx) => {
      await sql`lock table ${sql.table(`ordering.${table}`)} in share mode`.execute(tx);
      for (const request of requests) {
        answers.push(request());
        await someoneWaits(answers.length);
      }
    });
    return Promise.all(answers);
  }

  it('is accepted if that patient was requested earlier, and only the page was slow', async () => {
    const browser = new TestBrowser();
    await open(browser);
    const context = contextFor();
    const earlier = await application.openLaunch(context, { browser });
    const database = await openOrderingDatabase(application.storage);
    const { slow, launch } = await database.transaction().execute(async (tx) => {
      // The page waits until it is known whether another request has opened its launch.
      const row = { launch_id: context.launchId, opened_at: new Date().toISOString() };
      await tx.insertInto('opened_launches').values(row).execute();
      const slow = [earlier.send('')];
      await someoneWaits(1);
      application.clock.advance({ seconds: 1 });
      const launch = await ordering(browser, aPatient(other));
      await tx.deleteFrom('opened_launches').where('launch_id', '=', context.launchId).execute();
      return { slow, launch };
    });
    const html = await launch.page('review');
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([409]);
    expect(locationOf(await sendReview(launch, html))).toContain('/orders/');
  });

  it('stores the order, if the submission came first', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const html = await mine.page('review');
    const second = await application.openLaunch(contextFor(aPatient(other)), { browser });
    const [submitted, opened] = await whileBlocked('test_requests', [
      () => sendReview(mine, html),
      () => second.send(''),
    ]);
    expect([locationOf(submitted as Response)?.includes('/orders/'), opened?.status]).toEqual([true, 200]);
    expect(await isLocked(second)).toBe(false);
  });

  it('is refused if the other patient was opened first', async () => {
    const browser = new TestBrowser();
    const mine = await ordering(browser);
    const html = await mine.page('review');
    const second = await application.openLaunch(contextFor(aPatient(other)), { browser });
    const [opened, submitted] = await whileBlocked('outbox', [
      () => second.send(''),
      () => sendReview(mine, html),
    ]);
    expect([opened?.status, submitted?.status]).toEqual([200, 409]);
    expect(await rowsOf(application, mine)).toEqual([]);
  });
});

describe('a submission while Redis is unavailable', () => {
  it('is refused, and its page contains the typed text and a button that sends it again', async () => {
    const mine = await ordering(new TestBrowser());
    const html = await mine.page('review');
    const find = application.tickets.find.bind(application.tickets);
    application.tickets.find = () => Promise.reject(new Unavailable('Redis does not answer'));
    const refused = await sendReview(mine, html, 'Tired "for" weeks');
    application.tickets.find = find;
    expect(refused.status).toBe(503);
    const page = await refused.text();
    expect(page).toContain(`<form method="post" action="${mine.home}review">`);
    expect(page).toContain('name="details" value="Tired &quot;for&quot; weeks"');
    expect(await rowsOf(application, mine)).toEqual([]);
    const fields = [...page.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')] as const,
    );
    expect(locationOf(await mine.post('review', fields))).toContain('/orders/');
    expect(await rowsOf(application, mine)).toMatchObject([{ clinical_details: 'Tired "for" weeks' }]);
  });
});

describe('the audit events of a lock', () => {
  it('are stored under the locked launch, with its patient and the launch that was opened', async () => {
    const browser = new TestBrowser();
    const [mine, second] = [await ordering(browser), await ordering(browser, aPatient(other))];
    await workHere(mine);
    await workHere(mine);
    const locked = await publishedBy(application, mine, 'launch.window.locked.v1');
    const unlocked = await publishedBy(application, mine, 'launch.window.unlocked.v1');
    const lockedSecond = await publishedBy(application, second, 'launch.window.locked.v1');
    const about = (launch: OpenLaunch) => application.pseudonyms.ofPatient(launch.context.request.patient);
    expect(locked.map(({ data }) => data)).toMatchObject([
      {
        launchId: mine.launchId,
        openedLaunchId: second.launchId,
        patient: about(mine),
        user: { username: user.username },
      },
    ]);
    expect(unlocked.map(({ data }) => data)).toMatchObject([
      { launchId: mine.launchId, patient: about(mine) },
    ]);
    expect(lockedSecond.map(({ data }) => data)).toMatchObject([
      { launchId: second.launchId, openedLaunchId: mine.launchId, patient: about(second) },
    ]);
    expect(await publishedBy(application, second, 'launch.window.unlocked.v1')).toEqual([]);
  });
});
