import { randomUUID } from 'node:crypto';
import type { Action } from '@clinical-launch/contracts/launch-context';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openOrderingDatabase } from '../src/store/database.ts';
import { type Application, aPatient, startOrdering } from './launches.ts';
import { aPractice, linksIn, listedIn, openList, orderFor, pageLink, textOf } from './listing.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** Sets a request to Complete, as the service does when the last sample is recorded. */
async function complete(guid: string): Promise<void> {
  const database = await openOrderingDatabase(application.storage);
  await database.updateTable('test_requests').set({ status: 'Complete' }).where('guid', '=', guid).execute();
}

/** Returns the text of the tests in the first row of a list. */
const listedTests = (html: string) =>
  textOf(/app-list__tests"[^]*?app-list__cell">([^]*?)<\/td>/.exec(html)?.[1] ?? '');

/** Orders two requests for one patient, and completes the second request. */
async function twoRequests() {
  const request = { practice: aPractice(), patient: aPatient() };
  const open = await orderFor(application, { request });
  const complete_ = await orderFor(application, { request });
  await complete(complete_.guid);
  return { request, open: open.guid, complete: complete_.guid };
}

describe('the list of each action', () => {
  it.each<[Action, string]>([
    ['UpdateTest', '/tests/'],
    ['PatientSampleQueue', '/samples'],
    ['PatientRequestList', '/samples'],
    ['LocationSampleQueue', '/samples'],
  ])('contains the Incomplete requests for %s, each with a link to its next step', async (action, step) => {
    const { request, open } = await twoRequests();
    const launch = await openList(application, action, { request });
    expect(linksIn(await launch.page('requests'))).toEqual([`${launch.home}requests/${open}${step}`]);
  });

  it.each<[Action]>([['PatientReport'], ['PatientReportList'], ['LocationReportList']])(
    'contains every request for %s, newest first, each with a link to its page',
    async (action) => {
      const { request, open, complete: done } = await twoRequests();
      const launch = await openList(application, action, { request });
      expect(linksIn(await launch.page('requests'))).toEqual(
        [done, open].map((guid) => `${launch.home}requests/${guid}`),
      );
    },
  );

  it.each<[Action]>([
    ['PatientRequestList'],
    ['LocationSampleQueue'],
    ['PatientReportList'],
    ['LocationReportList'],
  ])('is the first page of %s', async (action) => {
    const launch = await openList(application, action);
    const response = await launch.send('');
    expect([response.status, response.headers.get('location')]).toEqual([303, `${launch.home}requests`]);
  });

  it.each<[Action]>([['UpdateTest'], ['PatientSampleQueue'], ['PatientReport']])(
    'is opened by %s if the originating id is unknown, and explains why',
    async (action) => {
      const { request, open } = await twoRequests();
      const launch = await openList(application, action, { request });
      const next = (await launch.send('')).headers.get('location') ?? '';
      expect(next).toBe(`${launch.home}requests?choose`);
      const html = await launch.page(next);
      expect(textOf(html)).toContain(
        'The request that you opened in your practice system was not found. Choose one of this patient’s requests below.',
      );
      expect(listedIn(html)).toContain(open);
    },
  );

  it('is not available to OrderTest, which has no list: the answer is 404', async () => {
    const launch = await openList(application, 'OrderTest');
    expect((await launch.send('requests')).status).toBe(404);
    expect((await launch.post('requests', [['q', 'whitfield']])).status).toBe(404);
  });

  it.each<[Action, string]>([
    ['UpdateTest', 'You cannot change any request for this patient'],
    ['PatientRequestList', 'No samples are waiting to be collected for this patient'],
    ['LocationSampleQueue', 'No samples are waiting to be collected in this practice'],
    ['PatientReportList', 'No tests have been requested for this patient here'],
    ['LocationReportList', 'No tests have been requested in this practice yet'],
  ])('explains the next step for %s when the list is empty', async (action, title) => {
    const request = { practice: aPractice(), patient: aPatient() };
    const launch = await openList(application, action, { request });
    const text = textOf(await launch.page('requests'));
    expect(text).toContain(title);
    expect(text).toMatch(/go back to your practice system|Reload this page/);
  });
});

describe('a row of a list', () => {
  it('shows a request’s date, tests, patient, requester, collected samples and link', async () => {
    const patient = aPatient({ identifiers: [{ system: 'nhs-number', value: '9434765919' }] });
    const practice = aPractice();
    const order = await orderFor(application, { request: { practice, patient } }, ['HFBC', 'BUE', 'XCXR']);
    const launch = await openList(application, 'LocationReportList', { request: { practice } });
    const html = await launch.page('requests');
    const text = textOf(html);
    const database = await openOrderingDatabase(application.storage);
    const { batches } = await database
      .selectFrom('test_requests')
      .select('batches')
      .where('guid', '=', order.guid)
      .executeTakeFirstOrThrow();
    for (const { orderReference } of batches) expect(text).toContain(orderReference);
    expect(text).toMatch(/WHITFIELD, Margaret Anne .*Born 28 Feb 1958 .*NHS number 943 476 5919 /);
    expect(text).toContain('2 Mar 2026 at 09:');
    expect(text).toContain('FBC, U&E, CXR');
    expect(text).toMatch(/Incomplete .*0 of 2 samples collected/);
    expect(text).toContain('Dr T Bairstow');
    expect(html).not.toContain('nhsuk-tag--red');
    const link = /<a href="[^"]*requests\/[^"]*">([^]*?)<\/a>/.exec(html)?.[1] ?? '';
    const references = batches.map(({ orderReference }) => orderReference).join(' , ');
    expect(textOf(link)).toBe(`View request ${references} for WHITFIELD, Margaret Anne`);
  });

  it('states “None needed” for a request whose tests need no sample', async () => {
    const request = { practice: aPractice() };
    await orderFor(application, { request }, ['XCXR']);
    const launch = await openList(application, 'LocationReportList', { request });
    expect(textOf(await launch.page('requests'))).toMatch(/Complete .*None needed/);
  });

  it('writes times in the time zone of the practice', async () => {
    const request = { practice: aPractice() };
    const { guid } = await orderFor(application, { request });
    const database = await openOrderingDatabase(application.storage);
    await database
      .updateTable('test_requests')
      .set({ created_at: '2026-07-01T22:30:00.000Z' } as never)
      .where('guid', '=', guid)
      .execute();
    const launch = await openList(application, 'LocationReportList', { request });
    expect(textOf(await launch.page('requests'))).toContain('1 Jul 2026 at 23:30');
  });

  it('contains every test of a long request, in a summary that the user can open', async () => {
    const request = { practice: aPractice() };
    await orderFor(application, { request }, ['HFBC', 'HESR', 'HRET', 'HFER', 'HB12', 'HFOL']);
    const launch = await openList(application, 'LocationReportList', { request });
    const html = await launch.page('requests');
    const [, summary = ''] = /<summary>([^]*?)<\/summary>/.exec(html) ?? [];
    expect(textOf(summary)).toMatch(
      /^FBC, ESR, Reticulocyte count, Ferritin, Vitamin B12, Folate all 6 tests of NCP-\d+$/,
    );
  });

  it('omits removed tests, and escapes text from the practice system', async () => {
    const patient = aPatient({ name: { family: '<b>Ó & "Q"</b>', given: ['\u202eevil'] } });
    const request = { practice: aPractice(), patient };
    const { guid } = await orderFor(application, { request }, ['HFBC', 'BUE']);
    const database = await openOrderingDatabase(application.storage);
    const row = await database
      .selectFrom('test_requests')
      .selectAll()
      .where('guid', '=', guid)
      .executeTakeFirstOrThrow();
    const batches = row.batches.map((batch) => ({
      ...batch,
      tests: batch.tests.map((test) =>
        test.code.value === 'BUE' ? { ...test, status: 'D' as const } : test,
      ),
    }));
    await database
      .updateTable('test_requests')
      .set({ batches: JSON.stringify(batches) } as never)
      .where('guid', '=', guid)
      .execute();
    const launch = await openList(application, 'LocationSampleQueue', { request });
    const html = await launch.page('requests');
    expect(listedTests(html)).toBe('FBC');
    expect(html).not.toMatch(/<b>Ó/i);
    expect(html).toContain('<bdi>&lt;B&gt;Ó &amp; &quot;Q&quot;&lt;/B&gt;');
  });
});

describe('the pages of a list', () => {
  const many = 53;
  const request = { practice: aPractice(), patient: aPatient() };
  let guids: string[];
  beforeAll(async () => {
    guids = [];
    for (let index = 0; index < many; index += 1) {
      const { guid } = await orderFor(application, { request });
      guids.unshift(guid);
    }
  });

  it.each<[Action]>([['LocationReportList'], ['PatientReportList'], ['UpdateTest']])(
    'have links from the newest request to the oldest and back for %s',
    async (action) => {
      const launch = await openList(application, action, { request });
      const first = await launch.page('requests');
      expect(textOf(first)).toContain(`${many} requests, newest first`);
      expect([listedIn(first), pageLink(first, 'prev')]).toEqual([guids.slice(0, 25), undefined]);
      const second = await launch.page(pageLink(first, 'next'));
      expect(listedIn(second)).toEqual(guids.slice(25, 50));
      const third = await launch.page(pageLink(second, 'next'));
      expect([listedIn(third), pageLink(third, 'next')]).toEqual([guids.slice(50), undefined]);
      const back = await launch.page(pageLink(third, 'prev'));
      expect(listedIn(back)).toEqual(guids.slice(25, 50));
      const top = await launch.page(pageLink(back, 'prev'));
      expect([listedIn(top), pageLink(top, 'prev')]).toEqual([guids.slice(0, 25), undefined]);
    },
  );

  it('neither omit nor repeat a request if another request is submitted while the user changes pages', async () => {
    const own = { practice: aPractice(), patient: aPatient() };
    const made: string[] = [];
    for (let index = 0; index < 30; index += 1)
      made.unshift((await orderFor(application, { request: own })).guid);
    const launch = await openList(application, 'LocationReportList', { request: own });
    const next = pageLink(await launch.page('requests'), 'next');
    const newer = await orderFor(application, { request: own });
    const second = await launch.page(next);
    expect(listedIn(second)).toEqual(made.slice(25));
    // 26 requests are newer than the second page. The previous page shows 25, so the newest request is
    // another page back.
    const back = await launch.page(pageLink(second, 'prev'));
    expect(listedIn(back)).toEqual(made.slice(0, 25));
    expect(listedIn(await launch.page(pageLink(back, 'prev')))).toEqual([newer.guid, ...made.slice(0, 24)]);
  });

  it.each([
    ['before=nonsense'],
    ['before=%00'],
    ['after=%FF'],
    [`before=${randomUUID()}`],
    [`after=${randomUUID()}`],
    ["before='; drop table ordering.test_requests"],
    ['before[a]=b&before=c'],
  ])('begin at the newest request if the cursor is invalid: ?%s', async (query) => {
    const launch = await openList(application, 'LocationReportList', { request });
    const response = await launch.send(`requests?${query}`);
    expect(response.status).toBe(200);
    expect(listedIn(await response.text())).toEqual(guids.slice(0, 25));
  });

  it('count up to 1000 requests, and show 1,000+ for more', async () => {
    const own = { practice: aPractice(), patient: aPatient() };
    const { guid } = await orderFor(application, { request: own });
    const database = await openOrderingDatabase(application.storage);
    const { launch_id: _, ...row } = await database
      .selectFrom('test_requests')
      .selectAll()
      .where('guid', '=', guid)
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: 1000 }, () => ({
      ...row,
      guid: randomUUID(),
      launch_id: randomUUID(),
      parties: JSON.stringify(row.parties),
      batches: JSON.stringify(row.batches),
      answers: '[]',
    }));
    await database
      .insertInto('test_requests')
      .values(copies as never)
      .execute();
    for (const action of ['LocationReportList', 'PatientReportList'] as const) {
      const launch = await openList(application, action, { request: own });
      expect(textOf(await launch.page('requests'))).toContain('1,000+ requests');
    }
  });
});

describe('the audit trail of lists', () => {
  const listed = (launchId: string) =>
    application.published.filter(
      ({ type, correlationid }) => type === 'orders.listed.v1' && correlationid === launchId,
    );

  it('records the user, patients and number of requests of each page that is shown', async () => {
    const { request } = await twoRequests();
    const launch = await openList(application, 'LocationReportList', { request });
    await launch.page('requests');
    await until(() => listed(launch.launchId).length === 1);
    const { pseudonyms } = application;
    const shown = { launchId: launch.launchId, action: 'LocationReportList', orders: 2 };
    expect(listed(launch.launchId).map(({ data }) => data)).toMatchObject([
      {
        ...shown,
        patients: [pseudonyms.ofPatient(request.patient)],
        user: { username: launch.context.request.author.username, name: 'Dr Adaeze Okonkwo' },
      },
    ]);
  });

  it('does not record a HEAD request or a prefetch, and a prefetch is refused', async () => {
    const { request } = await twoRequests();
    const launch = await openList(application, 'LocationReportList', { request });
    expect((await launch.send('requests', { method: 'HEAD' })).status).toBe(200);
    const ahead = await launch.send('requests', { headers: { 'Sec-Purpose': 'prefetch' } });
    expect(ahead.status).toBe(400);
    await launch.page('requests');
    await until(() => listed(launch.launchId).length > 0);
    expect(listed(launch.launchId)).toHaveLength(1);
  });
});
