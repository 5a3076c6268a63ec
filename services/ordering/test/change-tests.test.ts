import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  anOrderToChange,
  linesOf,
  locationOf,
  openChange,
  publishedOrders,
  reviewed,
  stored,
  submitChange,
  takeSample,
  withdraw,
} from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aYoungPatient,
  chooseAndReview,
  fieldValues,
  press,
  startOrdering,
  tickedIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

describe('a change by another user', () => {
  it('keeps the requester, author and time of the request, in the database and the order document', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const { parties, createdAt } = await stored(application, ordered.guid);
    application.clock.advance({ seconds: 3600 });
    const request = {
      ...ordered.context.request,
      authoredOn: '2026-03-02T10:15:00Z',
      author: { username: 's.ahmed', name: { family: 'Ahmed', given: ['Sara'] } },
      requester: {
        identifier: { system: 'professional-code' as const, value: 'G7654321' },
        name: { family: 'Ahmed', given: ['Sara'] },
      },
    };
    const launch = await openChange(application, { ...ordered, context: { ...ordered.context, request } });
    await press(launch, 'review', { at: launch.at, tick: ['BUE'] });
    expect(locationOf(await submitChange(launch))).toContain('/orders/');
    expect(await stored(application, ordered.guid)).toMatchObject({ version: 2, parties, createdAt });
    expect(parties.requester).toEqual(ordered.context.request.requester);
    const [, amended] = await publishedOrders(application, ordered.guid, 2);
    const { requester, authoredOn } = ordered.context.request;
    expect(amended?.order).toMatchObject({ requester, authoredOn });
  });
});

describe('the pages that change a request', () => {
  it('show the tests of the request and mark the tests with collected samples', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    await takeSample(application, ordered, 'edta');
    const launch = await openChange(application, ordered);
    expect(locationOf(await launch.send(''))).toBe(`${launch.home}${launch.at}`);
    const html = await launch.page(launch.at);
    expect(html).toContain('<title>Change the tests');
    expect(html).toContain('Review changes');
    expect(tickedIn(html)).toEqual(['HFBC', 'BUE']);
    const item = (code: string) => html.split(`id=test-${code} `)[1]?.split('<li>')[0] ?? '';
    expect([item('HFBC'), item('BUE')].map((each) => each.includes('Sample collected'))).toEqual([
      true,
      false,
    ]);
    expect(html).toContain('Samples still to collect');
    expect(html).toMatch(/<strong>Serum, gold top<\/strong>/);
    expect(html).not.toMatch(/<strong>EDTA blood, purple top<\/strong>/);
  });

  it('list added, removed and unchanged tests separately on the review', async () => {
    const launch = await openChange(application, await anOrderToChange(application, ['HFBC', 'BUE']));
    await press(launch, 'review', { at: launch.at, tick: ['XCXR'], untick: ['BUE'] });
    const html = await launch.page(`${launch.at}review`);
    const section = (from: string, to: string) => html.split(`>${from}</h2>`)[1]?.split(to)[0] ?? '';
    expect(section('Added', 'Removed')).toContain('Chest X-ray');
    expect(section('Removed', 'Not changed')).toContain('Urea and electrolytes');
    expect(section('Not changed', 'Samples still')).toContain('Full blood count');
    expect(html).toContain('Submit changes');
  });

  it('show a message and store nothing if a submission changes nothing', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const launch = await openChange(application, ordered);
    expect(locationOf(await submitChange(launch))).toBe(`${launch.home}${launch.at}review?check`);
    expect(await launch.page(`${launch.at}review?check`)).toContain('Nothing has been changed yet');
    expect((await stored(application, ordered.guid)).version).toBe(1);
  });

  it('contain the answers, clinical details and priority of the request, and a submission keeps these values', async () => {
    const context = aLaunchContext({ request: { patient: aYoungPatient() } });
    const launch = await chooseAndReview(application, ['CINR', 'EPROG', 'HFBC'], context);
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const reported: [string, string][] = [
      ['answer:anticoagulant', 'Warfarin'],
      ['answer:last-menstrual-period-day', '9'],
      ['answer:last-menstrual-period-month', '2'],
      ['answer:last-menstrual-period-year', '2026'],
      ['priority', 'urgent'],
      ['details', 'Tired'],
    ];
    const submitted = await launch.post('review', [['version', version], ...reported, ['action', 'submit']]);
    const guid = locationOf(submitted)?.split('/').at(-1) ?? '';
    const changer = await openChange(application, { guid, context });
    await press(changer, 'review', { at: changer.at, untick: ['CINR'], tick: ['BUE'] });
    const html = await changer.page(`${changer.at}review`);
    expect(html).toMatch(/name="answer:last-menstrual-period-month" type="text" value="02"/);
    expect(html).not.toContain('anticoagulant');
    expect(html).toMatch(/value="urgent" checked/);
    expect(locationOf(await submitChange(changer))).toContain('/orders/');
    expect(await stored(application, guid)).toMatchObject({
      clinicalDetails: 'Tired',
      priority: 'urgent',
      answers: [
        {
          question: 'last-menstrual-period',
          text: 'First day of the last menstrual period',
          answer: '2026-02-09',
        },
      ],
    });
  });
});

describe('a submitted change', () => {
  it('adds and removes tests, and sends a document of all batches, in which removed tests have status D', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE', 'KMSU']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BLFT', 'XCXR'], untick: ['BUE', 'KMSU'] });
    const result = await submitChange(launch);
    expect(locationOf(result)).toBe(`${launch.home}orders/${ordered.guid}`);
    expect(await launch.page(locationOf(result) ?? '')).toContain('Request updated');
    const request = await stored(application, ordered.guid);
    expect(linesOf(request)).toEqual([['HFBC S2 R', 'BUE S1 D', 'BLFT S1 R'], ['KMSU S3 D'], ['XCXR S4 R']]);
    expect(request.batches.map(({ status }) => status)).toEqual(['R', 'D', 'R']);
    const [, change] = await publishedOrders(application, ordered.guid, 2);
    expect(change?.event.data).toMatchObject({ orderVersion: 2, action: 'UpdateTest', batches: 3, tests: 5 });
    expect(
      change?.order.batches.map(({ tests }) => tests.map(({ code, status }) => `${code.value} ${status}`)),
    ).toEqual([['HFBC R', 'BUE D', 'BLFT R'], ['KMSU D'], ['XCXR R']]);
  });

  it('adds a batch with its own reference for a new location, and leaves the other references unchanged', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const before = await stored(application, ordered.guid);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['XCXR', 'KMSU'] });
    await submitChange(launch);
    const { batches } = await stored(application, ordered.guid);
    const references = batches.map(({ orderReference }) => orderReference);
    expect(references[0]).toBe(before.batches[0]?.orderReference);
    expect(references).toEqual([
      expect.stringMatching(/^NCP-/),
      expect.stringMatching(/^WMV-/),
      expect.stringMatching(/^SVI-/),
    ]);
    expect(new Set(references).size).toBe(3);
    expect(new Set(batches.map(({ guid }) => guid)).size).toBe(3);
  });

  it('adds a test to a sample that has not been collected, but not to a collected sample', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    await takeSample(application, ordered, 'edta');
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['HESR', 'BCRP'] });
    await submitChange(launch);
    expect(linesOf(await stored(application, ordered.guid))).toEqual([
      ['HFBC S2 S', 'BUE S1 R', 'HESR S3 R', 'BCRP S1 R'],
    ]);
  });

  it('leaves a removed test at status D when the sample that it shared is collected', async () => {
    const ordered = await anOrderToChange(application, ['BUE', 'BLFT']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, untick: ['BUE'] });
    await submitChange(launch);
    await takeSample(application, ordered, 'serum');
    expect(linesOf(await stored(application, ordered.guid))).toEqual([['BUE S1 D', 'BLFT S1 S']]);
  });

  it('adds a removed test again as a second line, in the same launch', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, untick: ['HFBC'] });
    await submitChange(launch);
    expect(tickedIn(await launch.page(launch.at))).toEqual(['BUE']);
    await press(launch, 'review', { at: launch.at, tick: ['HFBC'] });
    await submitChange(launch);
    const request = await stored(application, ordered.guid);
    expect([request.version, linesOf(request)]).toEqual([3, [['HFBC S2 D', 'BUE S1 R', 'HFBC S2 R']]]);
  });

  it('may omit the form field "submission", and is answered 400 if this field is invalid', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BUE'] });
    const [version = ['version', '']] = await reviewed(launch);
    const post = (fields: [string, string][]) =>
      launch.post(`${launch.at}review`, [version, ...fields, ['action', 'submit']]);
    for (const id of ['', '1', "'; --"]) expect((await post([['submission', id]])).status).toBe(400);
    expect(locationOf(await post([]))).toBe(`${launch.home}orders/${ordered.guid}`);
  });

  it('keeps a test that has left the catalogue, until the user removes the test by its button', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    await withdraw(application, ordered, 'HFBC');
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BLFT'] });
    expect(await launch.page(launch.at)).toContain('No longer in the catalogue');
    expect(await launch.page(`${launch.at}review`)).toContain('Full blood count');
    await submitChange(launch);
    expect(linesOf(await stored(application, ordered.guid))).toEqual([['OLD S2 R', 'BUE S1 R', 'BLFT S1 R']]);
    await press(launch, 'remove:OLD', { at: launch.at });
    await submitChange(launch);
    expect(linesOf(await stored(application, ordered.guid))).toEqual([['OLD S2 D', 'BUE S1 R', 'BLFT S1 R']]);
  });

  it('removes a chosen test that is part of an added panel', async () => {
    const ordered = await anOrderToChange(application, ['BUE', 'HFBC']);
    const launch = await openChange(application, ordered);
    await press(launch, 'update', { at: launch.at, tick: ['BPROF'] });
    expect(tickedIn(await launch.page(launch.at))).toEqual(['HFBC', 'BPROF']);
    expect(await launch.page(launch.at)).toContain(
      'Urea and electrolytes removed: already in Biochemistry profile.',
    );
    await submitChange(launch);
    expect(linesOf(await stored(application, ordered.guid))).toEqual([
      ['HFBC S2 R', 'BUE S1 D', 'BPROF S1 R'],
    ]);
  });

  it.each([
    ['twice in sequence', async (send: () => Promise<Response>) => [await send(), await send()]],
    ['three times at once', (send: () => Promise<Response>) => Promise.all([send(), send(), send()])],
  ])('is stored once if it is sent %s', async (_case, sendAll) => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BLFT'], untick: ['HFBC'] });
    const fields = await reviewed(launch);
    const answers = await sendAll(() => launch.post(`${launch.at}review`, [...fields, ['action', 'submit']]));
    const result = `${launch.home}orders/${ordered.guid}`;
    expect(answers.map(locationOf)).toEqual(answers.map(() => result));
    const request = await stored(application, ordered.guid);
    expect([request.version, linesOf(request)]).toEqual([2, [['HFBC S2 D', 'BUE S1 R', 'BLFT S1 R']]]);
    expect(await publishedOrders(application, ordered.guid, 2)).toHaveLength(2);
  });

  it('is not stored if other tests were chosen after the page was loaded', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BUE'] });
    const fields = await reviewed(launch);
    await press(launch, 'update', { at: launch.at, tick: ['BLFT'] });
    const refused = await launch.post(`${launch.at}review`, [...fields, ['action', 'submit']]);
    expect(locationOf(refused)).toBe(`${launch.home}${launch.at}review?changed`);
    expect(await launch.page(`${launch.at}review?changed`)).toContain('The changes were not submitted');
    expect((await stored(application, ordered.guid)).version).toBe(1);
  });
});
