import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openOrderingDatabase } from '../src/store/database.ts';
import {
  anOrderToChange,
  type Changer,
  linesOf,
  locationOf,
  openChange,
  publishedOrders,
  reviewed,
  stored,
} from './changes.ts';
import {
  type Application,
  aLaunchContext,
  openAction,
  press,
  startOrderingOnPostgres,
  TestBrowser,
  tickedIn,
} from './launches.ts';
import { aPractice, textOf } from './listing.ts';
import { record, samplesPage, taken } from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrderingOnPostgres();
});
afterAll(() => application.stop());

const why = 'Requested twice';

/** Orders tests and opens a launch that can change the order. */
const openOrder = async (tests = ['HFBC', 'KMSU']) => {
  const ordered = await anOrderToChange(application, tests);
  return { ordered, launch: await openChange(application, ordered) };
};

/** Presses “Cancel this request”, and returns the fields of the page with a reason. */
async function cancelling(launch: Changer, reason = why): Promise<[string, string][]> {
  const pressed = await press(launch, 'cancel', { at: launch.at });
  expect(locationOf(pressed)).toBe(`${launch.home}${launch.at}review`);
  return [...(await reviewed(launch)), ['cancel-reason', reason]];
}

const cancel = async (launch: Changer, fields?: [string, string][]) =>
  launch.post(`${launch.at}review`, [...(fields ?? (await cancelling(launch))), ['action', 'submit']]);

describe('a cancelled request', () => {
  it('sends a document in which every test and batch has status D, and stores its reason only with the request', async () => {
    const { ordered, launch } = await openOrder();
    const done = await cancel(launch, [...(await cancelling(launch)), ['cancel-reason-text', 'By <Kelly>']]);
    expect(locationOf(done)).toBe(`${launch.home}orders/${ordered.guid}`);
    const request = await stored(application, ordered.guid);
    expect(request).toMatchObject({ status: 'Complete', version: 2 });
    expect(linesOf(request)).toEqual([['HFBC S1 D'], ['KMSU S2 D']]);
    const [, published] = await publishedOrders(application, ordered.guid, 2);
    expect(published?.order.batches.map(({ status, samples }) => [status, samples.length])).toEqual([
      ['D', 1],
      ['D', 1],
    ]);
    const said = JSON.stringify([published?.order, application.published]);
    expect(said).not.toMatch(/Kelly|Requested twice/);
    const report = await openAction(application, 'PatientReport', ordered);
    expect(textOf(await report.page(`requests/${ordered.guid}`))).toContain(
      'Cancelled 2 March 2026 at 09:30 by Okonkwo, Adaeze (Dr) Reason: Requested twice: By <Kelly>',
    );
  });

  it('is shown as cancelled on every page, and never as submitted to the laboratory', async () => {
    const { ordered, launch } = await openOrder();
    const result = textOf(await launch.page(locationOf(await cancel(launch)) ?? ''));
    expect(result).toMatch(/Request cancelled.*Destroy printed request forms and labels with the references/);
    const { guid } = ordered;
    const read = async (action: 'PatientReportList' | 'LocationReportList' | 'UpdateTest', path: string) =>
      textOf(await (await openAction(application, action, ordered)).page(path));
    const pages = [
      result,
      await read('PatientReportList', 'requests'),
      await read('LocationReportList', 'requests'),
      await read('UpdateTest', `requests/${guid}`),
      await read('PatientReportList', `requests/${guid}`),
      await read('PatientReportList', `requests/${guid}/form`),
      await read('UpdateTest', `requests/${guid}/tests/`),
    ];
    for (const page of pages) {
      expect(page).toMatch(/cancelled/i);
      expect(page).not.toMatch(/submitted to the laboratory|(Status|request) Complete/);
    }
    expect(await read('UpdateTest', 'requests')).not.toContain('Full blood count');
  });

  it('needs a reason, without which nothing is stored and the typed text is kept', async () => {
    const { ordered, launch } = await openOrder();
    const fields = await cancelling(launch, 'Another choice');
    for (const text of ['', ' \n', 'x'.repeat(201)]) {
      const refused = await cancel(launch, [...fields, ['cancel-reason-text', text]]);
      expect(locationOf(refused)).toBe(`${launch.home}${launch.at}review?check`);
      const html = await launch.page(`${launch.at}review?check`);
      expect(textOf(html)).toContain('There is a problem');
      expect(html).toContain(`value="${text.trim()}"`);
    }
    expect((await stored(application, ordered.guid)).version).toBe(1);
  });

  it('is the result of a change that removes every test, and a change that keeps a test needs no reason', async () => {
    const { ordered, launch } = await openOrder();
    await press(launch, 'review', { at: launch.at, untick: ['HFBC', 'KMSU'] });
    expect(await launch.page(`${launch.at}review`)).toContain('<title>Cancel this request');
    await press(launch, 'review', { at: launch.at, tick: ['BUE'] });
    expect(await launch.page(`${launch.at}review`)).toContain('<title>Review the changes');
    expect(locationOf(await cancel(launch, await reviewed(launch)))).toContain('/orders/');
    expect(linesOf(await stored(application, ordered.guid))).toEqual([
      ['HFBC S1 D', 'BUE S3 R'],
      ['KMSU S2 D'],
    ]);
  });

  it('was not cancelled if the user goes back to the tests, which one button restores', async () => {
    const { ordered, launch } = await openOrder();
    await launch.post(`${launch.at}review`, [...(await cancelling(launch)), ['action', 'back']]);
    const [, undo = ''] = /value="(undo:[^"]*)"/.exec(await launch.page(launch.at)) ?? [];
    await press(launch, undo, { at: launch.at });
    expect(tickedIn(await launch.page(launch.at))).toEqual(['HFBC', 'KMSU']);
    expect((await stored(application, ordered.guid)).version).toBe(1);
  });

  it('tells the user not to send the samples that were collected, with the laboratory’s telephone number', async () => {
    const { ordered, launch } = await openOrder();
    const collector = await openAction(application, 'PatientSampleQueue', ordered);
    await record(collector, taken('S1'));
    const fields = await cancelling(launch);
    const before = textOf(await launch.page(`${launch.at}review`));
    const after = textOf(await launch.page(locationOf(await cancel(launch, fields)) ?? ''));
    for (const page of [before, after]) {
      expect(page).toMatch(/Do not send the samples that have been collected: EDTA blood[^.]*: 0/);
    }
    const { batches } = await stored(application, ordered.guid);
    expect(batches.flatMap(({ tests }) => tests.map(({ status }) => status))).toEqual(['D', 'D']);
  });
});

describe('the page that cancels a request', () => {
  it.each([
    ['twice in sequence', async (send: () => Promise<Response>) => [await send(), await send()]],
    ['four times at once', (send: () => Promise<Response>) => Promise.all([send(), send(), send(), send()])],
  ])('cancels once if its form is sent %s', async (_case, sendAll) => {
    const { ordered, launch } = await openOrder();
    const fields = await cancelling(launch);
    for (const answer of await sendAll(() => cancel(launch, fields))) {
      expect(locationOf(answer)).toBe(`${launch.home}orders/${ordered.guid}`);
    }
    expect((await stored(application, ordered.guid)).version).toBe(2);
    expect(await publishedOrders(application, ordered.guid, 2)).toHaveLength(2);
  });

  it('has one outcome if two windows cancel and another records a sample at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { ordered, launch } = await openOrder(['HFBC']);
      const other = await openChange(application, ordered);
      const collector = await openAction(application, 'PatientSampleQueue', ordered);
      const forms = [await cancelling(launch), await cancelling(other, 'No longer needed')] as const;
      const samples = await collector.page(samplesPage(ordered));
      const answers = await Promise.all([
        cancel(launch, forms[0]),
        record(collector, taken('S1'), samples),
        cancel(other, forms[1]),
      ]);
      expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toEqual([303]);
      const { version, batches } = await stored(application, ordered.guid);
      const isRecorded = answers[1].status === 303;
      expect([version, batches[0]?.status]).toEqual([2, isRecorded ? 'S' : 'D']);
    }
  });

  it('shows who changed the request since the page was loaded, and cancels after the user has checked it', async () => {
    const { ordered, launch } = await openOrder();
    const fields = await cancelling(launch);
    const collector = await openAction(application, 'PatientSampleQueue', ordered);
    await record(collector, taken('S1'));
    expect(locationOf(await cancel(launch, fields))).toBe(`${launch.home}${launch.at}review?conflict`);
    const html = await launch.page(`${launch.at}review?conflict`);
    expect(textOf(html)).toMatch(
      /Not cancelled yet Someone else changed this request: Okonkwo, Adaeze \(Dr\)/,
    );
    expect(html).toMatch(/value="Requested twice" checked/);
    expect(locationOf(await cancel(launch, await reviewed(launch)))).toContain('/orders/');
  });

  it('is answered 409 for a Complete request, and 409 says so if the request was cancelled', async () => {
    const { ordered, launch } = await openOrder();
    const late = await openChange(application, ordered);
    const collector = await openAction(application, 'PatientSampleQueue', ordered);
    const samples = await collector.page(samplesPage(ordered));
    const fields = await cancelling(late);
    await cancel(launch);
    const answers = [
      await cancel(late, fields),
      await late.send(`${late.at}review`),
      await record(collector, taken('S1'), samples),
      await collector.send(samplesPage(ordered)),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(409);
      expect(textOf(await answer.text())).toContain('This request has been cancelled');
    }
    const complete = await openOrder(['XCXR']);
    expect((await complete.launch.send(`${complete.launch.at}review`)).status).toBe(409);
    expect((await cancel(complete.launch, fields)).status).toBe(409);
    expect((await stored(application, complete.ordered.guid)).version).toBe(1);
  });

  it('is not available to a neighbouring practice, or to an action that does not change tests', async () => {
    const { ordered, launch } = await openOrder();
    const fields = await cancelling(launch);
    const { request } = ordered.context;
    const neighbour = await application.openLaunch(
      aLaunchContext({ request: { ...request, action: 'UpdateTest', practice: aPractice() } }),
    );
    expect((await neighbour.send(`${launch.at}review`)).status).toBe(404);
    expect((await neighbour.post(`${launch.at}review`, fields)).status).toBe(404);
    for (const action of ['OrderTest', 'PatientSampleQueue', 'LocationReportList'] as const) {
      const other = await openAction(application, action, ordered);
      expect((await other.send(`${launch.at}review`)).status).toBe(403);
      expect((await other.post(`${launch.at}review`, fields)).status).toBe(403);
    }
    expect((await stored(application, ordered.guid)).version).toBe(1);
  });

  it('cancels nothing from a locked window, and keeps the reason for the user who continues there', async () => {
    const browser = new TestBrowser();
    const ordered = await anOrderToChange(application, ['HFBC']);
    const { client, request } = ordered.context;
    const context = aLaunchContext({ client, request: { ...request, action: 'UpdateTest' } });
    const launch = await application.openLaunch(context, { browser });
    const changer = { ...launch, guid: ordered.guid, at: `requests/${ordered.guid}/tests/` };
    await changer.send('');
    const fields = await cancelling(changer);
    await (await application.openLaunch(aLaunchContext(), { browser })).page();
    expect((await cancel(changer, [...fields, ['cancel-reason-text', 'Typed before']])).status).toBe(409);
    await changer.post('window', [['to', `${changer.at}review`]]);
    expect(await changer.page(`${changer.at}review`)).toContain('value="Typed before"');
    expect((await stored(application, ordered.guid)).version).toBe(1);
    expect(locationOf(await cancel(changer, await reviewed(changer)))).toContain('/orders/');
  });

  it('stores the reason of no other submission', async () => {
    const { ordered, launch } = await openOrder();
    await cancel(launch);
    const rows = await (await openOrderingDatabase(application.storage))
      .selectFrom('submissions')
      .select('reason')
      .where('request_guid', '=', ordered.guid)
      .orderBy('request_version')
      .execute();
    expect(rows.map(({ reason }) => reason)).toEqual([null, why]);
  });
});
