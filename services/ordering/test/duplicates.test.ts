import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import { type EarlierTest, findRepeats } from '../src/domain/repeats.ts';
import { openChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  chooseAndReview,
  type OpenLaunch,
  press,
  rowsOf,
  startOrdering,
  submit,
  tickedIn,
} from './launches.ts';
import { textOf } from './listing.ts';

const catalogue = readCatalogue();

/** Returns the repeats that are found on 2 March 2026 at 09:30 if a test is chosen after earlier tests. */
function found(chosen: string, ...earlier: Partial<EarlierTest>[]) {
  const tests = [...catalogue.orderables.values()].filter(({ code }) => code === chosen);
  const before = earlier.map((changes) => ({
    code: chosen,
    description: chosen,
    requestedAt: '2026-03-01T10:00:00Z',
    requester: { family: 'Hill', given: [] },
    isSampleTaken: false,
    container: 'edta',
    provider: 'North Coast Pathology',
    orderReference: 'NCP-000001',
    ...changes,
  }));
  const now = Date.parse('2026-03-02T09:30:00Z');
  const repeats = findRepeats({ tests, earlier: before, catalogue, now, timeZone: 'Europe/London' });
  return repeats.map(({ latest, usable, minimumIntervalDays = 0 }) => [
    latest.orderReference,
    usable?.orderReference,
    minimumIntervalDays,
  ]);
}

describe('a chosen test that was requested before', () => {
  it('is reported as a repeat until the earlier sample is collected, however old the request is', () => {
    expect(found('HFBC', { requestedAt: '2025-06-01T10:00:00Z' })).toEqual([['NCP-000001', 'NCP-000001', 0]]);
    expect(found('HFBC', { isSampleTaken: true })).toEqual([]);
  });

  it('is reported on the day of the earlier request, even if the sample is collected or none is needed', () => {
    const { container: _, ...image } = { container: undefined };
    expect(found('HFBC', { requestedAt: '2026-03-02T00:00:00Z', isSampleTaken: true })).toHaveLength(1);
    expect(found('HFBC', { requestedAt: '2026-03-01T23:59:00Z', isSampleTaken: true })).toEqual([]);
    expect(found('XCXR', { ...image, requestedAt: '2026-03-02T00:00:00Z' })).toHaveLength(1);
  });

  it('is reported with its latest request, and with an older request that can be used if its sample is not collected', () => {
    expect(
      found(
        'DHBA1C',
        { orderReference: 'NCP-000002', requestedAt: '2026-02-20T10:00:00Z', isSampleTaken: true },
        { orderReference: 'NCP-000001', requestedAt: '2026-02-10T10:00:00Z' },
      ),
    ).toEqual([['NCP-000002', 'NCP-000001', 56]]);
  });

  it('can be replaced by an earlier panel that contains it; a panel cannot be replaced by one of its tests', () => {
    expect(found('BUE', { code: 'BPROF' })).toEqual([['NCP-000001', 'NCP-000001', 0]]);
    expect(found('BPROF', { code: 'BUE' })).toEqual([['NCP-000001', undefined, 0]]);
  });
});

describe('an earlier request of a chosen test', () => {
  let application: Application;
  beforeAll(async () => {
    application = await startOrdering();
  });
  afterAll(() => application.stop());

  const contextOf = (patient = aPatient()) => aLaunchContext({ request: { patient } });

  /** Orders the tests `before`, and then chooses the tests `now` for the same patient in another launch. */
  async function chooseAgain(before: string[], now: string[]) {
    const patient = aPatient();
    const { guid } = await anOrder(application, before, contextOf(patient));
    const launch = await chooseAndReview(application, now, contextOf(patient));
    const [, reference = ''] = /value="use:([A-Z0-9-]+)"/.exec(await launch.page('review')) ?? [];
    return { guid, launch, reference };
  }

  const use = (launch: OpenLaunch, reference: string) =>
    launch.post('review', [['action', `use:${reference}`]]);

  it('can be used instead of ordering its tests again, by one button of the review', async () => {
    const { launch, reference } = await chooseAgain(['HFBC', 'BUE'], ['HFBC', 'BUE', 'BCRP']);
    expect(textOf(await launch.page('review'))).toContain(
      `Use request ${reference} for Full blood count and Urea and electrolytes`,
    );
    expect((await use(launch, reference)).headers.get('location')).toBe(`${launch.home}review`);
    expect(tickedIn(await launch.page())).toEqual(['BCRP']);
    expect(await launch.page()).toContain(
      `Full blood count and Urea and electrolytes removed: already in request ${reference}.`,
    );
    await submit(launch);
    const [row] = await rowsOf(application, launch);
    expect(row?.batches.flatMap(({ tests }) => tests.map(({ code }) => code.value))).toEqual(['BCRP']);
  });

  it('can be used instead of a new request: the button next to the chosen tests also stores the ticked boxes', async () => {
    const { launch, reference } = await chooseAgain(['HFBC'], ['HFBC', 'BUE']);
    await press(launch, `use:${reference}`, { tick: ['BCRP'] });
    expect(tickedIn(await launch.page())).toEqual(['BUE', 'BCRP']);
  });

  it('returns the user to the page for choosing tests, with a message, if the request contains all chosen tests', async () => {
    const { launch, reference } = await chooseAgain(['HFBC'], ['HFBC']);
    expect((await use(launch, reference)).headers.get('location')).toBe(launch.home);
    expect(await launch.page()).toContain(`Full blood count removed: already in request ${reference}.`);
  });

  it.each(['NCP-999999', 'nothing'])(
    'removes no tests from the order if the form contains an unknown reference: %s',
    async (reference) => {
      const { launch } = await chooseAgain(['HFBC'], ['HFBC']);
      await press(launch, `use:${reference}`);
      expect(tickedIn(await launch.page())).toEqual(['HFBC']);
    },
  );

  it('is not offered for another patient, or for a change to the same request', async () => {
    const { guid, context } = await anOrder(application, ['HFBC'], contextOf());
    const other = await chooseAndReview(application, ['HFBC'], contextOf());
    expect(await other.page('review')).not.toContain('value="use:');
    const change = await openChange(application, { guid, context });
    await press(change, 'review', { at: change.at, tick: ['BUE'] });
    expect(await change.page(`${change.at}review`)).not.toContain('value="use:');
  });

  it('can be followed by a new order without a reason if the test has no minimum interval', async () => {
    const { launch } = await chooseAgain(['HFBC'], ['HFBC']);
    expect(await launch.page('review')).not.toContain('name="repeat-reason"');
    expect((await submit(launch)).headers.get('location')).toContain('/orders/');
  });
});
