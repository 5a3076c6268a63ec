import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { createTimeWriter } from '@clinical-launch/contracts/time';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  press,
  rowsOf,
  startOrdering,
  submit,
  tickedIn,
} from './launches.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let application: Application;
beforeAll(async () => {
  database = await createTestDatabase();
  application = await startOrdering(() =>
    openPostgresStorage({ url: database.url, applicationName: 'offered-drafts' }),
  );
});
afterAll(async () => {
  await application.stop();
  await database.drop();
});

/** Stores a draft without submitting it, and returns the context of its launch. */
async function leaveDraft(context = aLaunchContext({ request: { patient: aPatient() } })) {
  const launch = await chooseAndReview(application, ['HFBC', 'XCXR'], context);
  await launch.post('review', [
    ['details', 'Cough for three weeks'],
    ['priority', 'urgent'],
    ['answer:pregnancy', 'No'],
    ['collect', 'now'],
    ['collected-by', 'Nurse Hill'],
    ['action', 'back'],
  ]);
  application.clock.advance({ seconds: 60 });
  return context;
}

/** Opens the next launch of the same user for the same patient; `changes` and `ofClient` replace values. */
function openNext(
  { client, request }: LaunchContext,
  {
    request: changes = {},
    client: ofClient = {},
  }: {
    request?: Partial<LaunchContext['request']>;
    client?: Partial<LaunchContext['client']>;
  } = {},
) {
  const { originatingId } = aLaunchContext().request;
  return application.openLaunch(
    aLaunchContext({
      client: { ...client, ...ofClient },
      request: { ...request, originatingId, ...changes },
    }),
  );
}

const offerIn = (html: string) => /<p id="offer">([^<]*)<\/p>/.exec(html)?.[1];
const offerOf = async (launch: OpenLaunch) => offerIn(await launch.page());
/** Matches the offer of the tests that `leaveDraft` chooses. */
const leftTests = /: Full blood count and Chest X-ray\.$/;

/** Returns when `leaveDraft` last changed its draft, in London time: `2 March 2026 at 09:30` */
function leftAt() {
  return createTimeWriter('Europe/London')(application.clock.now() - 60_000);
}

/** Presses a button of the offer on `page`, by default the current page of the launch. */
async function answer(launch: OpenLaunch, action: string, page?: string) {
  const [changedAt = ''] = fieldValues(page ?? (await launch.page()), 'changed-at');
  const response = await launch.post('left-request', [
    ['launch', launch.launchId],
    ['changed-at', changedAt],
    ['action', action],
  ]);
  return [response.status, response.headers.get('location')?.replace(launch.home, '')];
}

/** Opens the next launch and continues the draft in that launch. */
async function continueNext(context: LaunchContext) {
  const next = await openNext(context);
  expect(await answer(next, 'continue')).toEqual([303, '']);
  return next;
}

/** Returns the codes of the tests that a launch ordered. */
async function orderedIn(launch: OpenLaunch) {
  const rows = await rowsOf(application, launch);
  return rows.flatMap(({ batches }) => batches.flatMap(({ tests }) => tests.map(({ code }) => code.value)));
}

describe('an unsubmitted draft', () => {
  it('is offered in the user’s next launch for the patient, which starts with no test chosen', async () => {
    const context = await leaveDraft();
    const next = await openNext(context);
    const html = await next.page();
    expect(tickedIn(html)).toEqual([]);
    expect(offerIn(html)).toBe(
      `You did not submit your request of ${leftAt()}: Full blood count and Chest X-ray.`,
    );
    expect((await next.send('review')).headers.get('location')).toBe(`${next.home}?nothing-chosen`);
  });

  it('is continued by the button of the offer, and the pages show the date of the draft', async () => {
    const context = await leaveDraft();
    const next = await continueNext(context);
    const html = await next.page();
    expect(tickedIn(html)).toEqual(['HFBC', 'XCXR']);
    expect(offerIn(html)).toBeUndefined();
    expect(html).toContain(`Continued from your request of ${leftAt()}.`);
    const review = await next.page('review');
    expect(review).toContain('Continued from your request of');
    expect(review).toMatch(/<textarea[^>]*>Cough for three weeks</);
    expect(review).toMatch(/value="urgent" checked/);
    // The collector and the time of the earlier draft are not restored: these samples are collected later.
    expect(review).toMatch(/value="later" checked/);
    expect(review).not.toContain('Nurse Hill');
    expect((await submit(next)).headers.get('location')).toContain('/orders/');
    expect(await orderedIn(next)).toEqual(['HFBC', 'XCXR']);
  });

  it.each([
    ['on the opened page', (launch: OpenLaunch) => press(launch, 'review', { tick: ['BUE'] })],
    [
      'by a form that was posted without opening the page',
      (launch: OpenLaunch) =>
        launch.post('', [
          ['test', 'BUE'],
          ['action', 'review'],
        ]),
    ],
  ])('adds no test to an order for which the user chose other tests %s', async (_, choose) => {
    const next = await openNext(await leaveDraft());
    await choose(next);
    expect((await submit(next)).headers.get('location')).toContain('/orders/');
    expect(await orderedIn(next)).toEqual(['BUE']);
  });

  it('is discarded by the button of the offer, and never offered again unless its own window changes it', async () => {
    const context = await leaveDraft();
    const [next, other] = [await openNext(context), await openNext(context)];
    const page = await next.page();
    expect(await answer(next, 'discard', page)).toEqual([303, '']);
    expect(await answer(next, 'discard', page)).toEqual([303, '']);
    for (const launch of [next, other, await openNext(context)]) {
      expect(await offerOf(launch)).toBeUndefined();
    }
    expect(tickedIn(await next.page())).toEqual([]);
    // The window of the first launch can still change the draft. Then other launches offer the draft again.
    const first = await application.openLaunch(context);
    await press(first, 'update', { tick: ['BUE'] });
    expect(await offerOf(next)).toBeUndefined();
    expect(await offerOf(other)).toContain('Urea and electrolytes');
  });

  it('is continued once if the user presses the button twice', async () => {
    const next = await openNext(await leaveDraft());
    const page = await next.page();
    expect(await answer(next, 'continue', page)).toEqual([303, '']);
    await press(next, 'update', { untick: ['XCXR'] });
    expect(await answer(next, 'continue', page)).toEqual([303, '']);
    expect(tickedIn(await next.page())).toEqual(['HFBC']);
  });

  it('is not continued from an older page after the user chose tests', async () => {
    const next = await openNext(await leaveDraft());
    const page = await next.page();
    await next.post('chosen', [
      ['test', 'BUE'],
      ['action', 'update'],
    ]);
    expect(await answer(next, 'continue', page)).toEqual([303, '?tests-chosen']);
    const html = await next.page('?tests-chosen');
    expect(html).toContain('Tests have already been chosen here');
    expect([tickedIn(html), offerIn(html)]).toEqual([['BUE'], undefined]);
    // The draft is offered again when no test is chosen.
    await press(next, 'remove:BUE');
    expect(await offerOf(next)).toMatch(leftTests);
  });

  const inAnotherWindow = {
    submitted: async (context: LaunchContext) => {
      const first = await application.openLaunch(context);
      await submit(first);
    },
    discarded: async (context: LaunchContext) => {
      await answer(await openNext(context), 'discard');
    },
    continued: async (context: LaunchContext) => {
      await continueNext(context);
    },
    changed: async (context: LaunchContext) => {
      await press(await application.openLaunch(context), 'update', { tick: ['BUE'] });
    },
  };

  it.each(Object.entries(inAnotherWindow))(
    'is neither continued nor discarded after it was %s in another window',
    async (_, happen) => {
      const context = await leaveDraft();
      const next = await openNext(context);
      const page = await next.page();
      await happen(context);
      const offered = await offerOf(next);
      for (const action of ['continue', 'discard']) {
        expect(await answer(next, action, page)).toEqual([303, '?offer-gone']);
      }
      const html = await next.page('?offer-gone');
      expect(html).toContain('Your earlier request was submitted, changed or discarded');
      expect([tickedIn(html), offerIn(html)]).toEqual([[], offered]);
    },
  );

  it('is not deleted by a new request after it was submitted', async () => {
    const context = await leaveDraft();
    const first = await application.openLaunch(context);
    await submit(first);
    const [order] = await rowsOf(application, first);
    const next = await openNext(context);
    expect((await next.post('new-request', [['launch', next.launchId]])).status).toBe(303);
    expect(await rowsOf(application, first)).toEqual([order]);
    expect(await first.page(`orders/${order?.guid}`)).toContain('Full blood count');
  });

  it('is not changed by an unknown button, which is answered 400', async () => {
    const next = await openNext(await leaveDraft());
    expect(await answer(next, 'merge')).toEqual([400, undefined]);
  });

  it('is continued only if the user then submits a new review, not a review page from before', async () => {
    const next = await openNext(await leaveDraft());
    await press(next, 'review', { tick: ['BUE'] });
    const [version = ''] = fieldValues(await next.page('review'), 'version');
    await press(next, 'remove:BUE');
    await answer(next, 'continue');
    const sent = await next.post('review', [
      ['version', version],
      ['action', 'submit'],
    ]);
    expect(sent.headers.get('location')).toBe(`${next.home}review?changed`);
    expect(await orderedIn(next)).toEqual([]);
  });

  it('is offered even if the user has a newer draft without tests', async () => {
    const context = await leaveDraft();
    const empty = await openNext(context);
    await press(empty, 'search', { q: 'thyroid' });
    await press(empty, 'update', { tick: ['BUE'] });
    await press(empty, 'remove:BUE');
    expect(await offerOf(await openNext(context))).toMatch(leftTests);
  });

  it('is offered with the names of at most six tests', async () => {
    const tests = ['HFBC', 'BUE', 'BLFT', 'DHBA1C', 'XCXR', 'BCRP', 'BBONE'];
    const context = aLaunchContext({ request: { patient: aPatient() } });
    await chooseAndReview(application, tests, context);
    expect(await offerOf(await openNext(context))).toMatch(/: (?:[^,]+, ){5}[^,]+ and 1 more test\.$/);
  });

  it('is continued in only one of several windows that continue it at the same time', async () => {
    const context = await leaveDraft();
    const windows = await Promise.all(Array.from({ length: 6 }, () => openNext(context)));
    const pages = await Promise.all(windows.map((launch) => launch.page()));
    const answers = await Promise.all(
      windows.map((launch, index) => answer(launch, 'continue', pages[index])),
    );
    const outcomes = answers.map(([, location]) => location);
    expect(outcomes.filter((location) => location === '')).toHaveLength(1);
    expect(outcomes.filter((location) => location === '?offer-gone')).toHaveLength(5);
  });

  it('is discarded without a deadlock if several windows start a new request at the same time', async () => {
    const context = await leaveDraft();
    const windows = await Promise.all(Array.from({ length: 6 }, () => openNext(context)));
    await Promise.all(windows.map((launch) => press(launch, 'update', { tick: ['BUE'] })));
    const answers = await Promise.all(
      windows.map((launch) => launch.post('new-request', [['launch', launch.launchId]])),
    );
    // The service would answer a deadlock with 500.
    expect(answers.map(({ status }) => status)).toEqual(windows.map(() => 303));
    for (const launch of [...windows, await openNext(context)]) {
      const html = await launch.page();
      expect([tickedIn(html), offerIn(html)]).toEqual([[], undefined]);
    }
  });

  it('is copied by the next launch, whose changes do not change the draft', async () => {
    const context = await leaveDraft();
    const next = await continueNext(context);
    await press(next, 'update', { tick: ['BUE'], untick: ['XCXR'] });
    expect(tickedIn(await next.page())).toEqual(['HFBC', 'BUE']);
    const first = await application.openLaunch(context);
    expect(tickedIn(await first.page())).toEqual(['HFBC', 'XCXR']);
  });

  const neighbour = aPatient();
  const other = {
    user: { request: { author: { ...aLaunchContext().request.author, username: 'g.hill' } } },
    patient: { request: { patient: neighbour } },
    'date of birth': { request: { patient: { ...neighbour, birthDate: '1958-03-01' } } },
    practice: {
      request: {
        practice: {
          identifier: { system: 'ods-organization-code' as const, value: 'B82099' },
          name: 'Quayside Surgery',
        },
      },
    },
    client: { client: { clientId: 'pms-other' } },
    issuer: { client: { issuer: 'https://login.example.org' } },
    laboratory: {
      request: {
        performer: {
          identifier: { system: 'performing-org' as const, value: 'RCB01' },
          name: 'South Coast Pathology',
        },
      },
    },
  };

  it.each(Object.entries(other))('is not offered for another %s', async (what, changes) => {
    const patient = what === 'date of birth' ? neighbour : aPatient();
    const context = await leaveDraft(aLaunchContext({ request: { patient } }));
    const page = await (await openNext(context)).page();
    const next = await openNext(context, changes);
    const html = await next.page();
    expect([tickedIn(html), offerIn(html)]).toEqual([[], undefined]);
    for (const action of ['continue', 'discard']) {
      expect(await answer(next, action, page)).toEqual([303, '?offer-gone']);
    }
    // The draft is still offered to its own user.
    expect(await offerOf(await openNext(context))).toMatch(leftTests);
  });

  it('is not offered for a patient without a valid identifier, because the patient cannot be recognised', async () => {
    const identifiers = [{ system: 'nhs-number' as const, value: '1234', isDoubtful: true as const }];
    const context = await leaveDraft(aLaunchContext({ request: { patient: aPatient({ identifiers }) } }));
    expect(await offerOf(await openNext(context))).toBeUndefined();
  });

  it('is not offered by a launch of another action', async () => {
    const context = await leaveDraft();
    const report = await openNext(context, { request: { action: 'PatientReportList' } });
    expect(offerIn(await report.page('requests'))).toBeUndefined();
    expect((await report.send('review')).status).toBe(403);
    expect((await answer(report, 'continue'))[0]).toBe(403);
  });

  it('is offered for 24 hours after its last change', async () => {
    const context = await leaveDraft();
    application.clock.advance({ seconds: 86_400 - 61 });
    const next = await openNext(context);
    const page = await next.page();
    expect(offerIn(page)).toMatch(leftTests);
    application.clock.advance({ seconds: 1 });
    expect(await offerOf(next)).toBeUndefined();
    expect(await answer(next, 'continue', page)).toEqual([303, '?offer-gone']);
  });

  it('is not offered after a launch that continued it was submitted', async () => {
    const context = await leaveDraft();
    const next = await continueNext(context);
    await press(next, 'review');
    expect((await submit(next)).headers.get('location')).toContain('/orders/');
    application.clock.advance({ seconds: 60 });
    expect(await offerOf(await openNext(context))).toBeUndefined();
  });

  it('is not offered after its user submitted another request', async () => {
    const context = await leaveDraft();
    const next = await openNext(context);
    await press(next, 'review', { tick: ['BUE'] });
    expect((await submit(next)).headers.get('location')).toContain('/orders/');
    application.clock.advance({ seconds: 60 });
    expect(await offerOf(await openNext(context))).toBeUndefined();
  });

  it('is not offered after its user started a new request, which starts with no test chosen', async () => {
    const context = await leaveDraft();
    const next = await continueNext(context);
    const sent = await next.post('new-request', [['launch', next.launchId]]);
    expect([sent.status, sent.headers.get('location')]).toEqual([303, next.home]);
    const html = await next.page();
    expect([tickedIn(html), offerIn(html)]).toEqual([[], undefined]);
    expect(html).not.toContain('Continued from');
    application.clock.advance({ seconds: 60 });
    expect(await offerOf(await openNext(context))).toBeUndefined();
  });

  it('is offered instead of a draft of another window that was changed earlier', async () => {
    const context = await leaveDraft();
    const [one, other] = [await continueNext(context), await continueNext(context)];
    await press(one, 'update', { tick: ['BUE'] });
    application.clock.advance({ seconds: 1 });
    await press(other, 'update', { tick: ['BLFT'] });
    application.clock.advance({ seconds: 1 });
    expect(tickedIn(await (await continueNext(context)).page())).toEqual(['HFBC', 'BLFT', 'XCXR']);
    // The window `one` still has its own draft.
    expect(tickedIn(await one.page())).toEqual(['HFBC', 'BUE', 'XCXR']);
  });

  it('is offered again if an open window changes it after another window was submitted', async () => {
    const context = await leaveDraft();
    const [one, other] = [await continueNext(context), await continueNext(context)];
    await press(one, 'review');
    await press(other, 'update', { tick: ['BUE'] });
    await submit(one);
    application.clock.advance({ seconds: 1 });
    expect(await offerOf(await openNext(context))).toBeUndefined();
    await press(other, 'update', { tick: ['BLFT'] });
    expect(tickedIn(await (await continueNext(context)).page())).toEqual(['HFBC', 'BUE', 'BLFT', 'XCXR']);
  });
});
