import type { Action } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { linesOf, locationOf, openChange, publishedOrders, stored, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  fieldValues,
  openAction,
  press,
  startOrderingOnPostgres,
} from './launches.ts';
import { aPractice, listedIn, openList, search, textOf } from './listing.ts';
import { record, taken } from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrderingOnPostgres();
});
afterAll(() => application.stop());

const pathology = 'collect:NHSORGANISATIONS RCB00';
const microbiology = 'collect:LOCAL WMV01';

/** Orders tests of two laboratories for a new patient, with these fields on the review. */
async function order(
  fields: [string, string][],
  { tests = ['HFBC', 'KMSU'], practice = aPractice(), patient = aPatient() } = {},
) {
  const context = aLaunchContext({ request: { practice, patient } });
  const launch = await chooseAndReview(application, tests, context);
  const [version = ''] = fieldValues(await launch.page('review'), 'version');
  const answer = await launch.post('review', [['version', version], ...fields, ['action', 'submit']]);
  const guid = /orders\/(.*)$/.exec(locationOf(answer) ?? '')?.[1] ?? '';
  application.clock.advance({ seconds: 60 });
  return { guid, context, launch, answer };
}

const elsewhere: [string, string][] = [['collect', 'elsewhere']];

describe('samples that another place collects', () => {
  it('leave the request Incomplete with status R and no time, until a launch of PatientSampleQueue records them', async () => {
    const ordered = await order(elsewhere);
    const { status, batches } = await stored(application, ordered.guid);
    expect([status, batches.map((batch) => [batch.status, batch.isElsewhere])]).toEqual([
      'Incomplete',
      [
        ['R', true],
        ['R', true],
      ],
    ]);
    const [event] = await publishedOrders(application, ordered.guid, 1);
    expect(event?.order.batches.flatMap(({ samples }) => samples.map(Object.keys))).toEqual([
      ['id', 'description'],
      ['id', 'description'],
    ]);
    expect(JSON.stringify(event?.order)).not.toContain('lsewhere');
    const hub = await openAction(application, 'PatientSampleQueue', {
      ...ordered,
      context: aLaunchContext({ request: { ...ordered.context.request, practice: aPractice() } }),
    });
    expect(textOf(await hub.page(`requests/${ordered.guid}/samples`))).toContain('to be collected elsewhere');
    expect((await record(hub, taken('S1', 'S2'))).status).toBe(303);
    expect((await stored(application, ordered.guid)).status).toBe('Complete');
    expect(await hub.page(`requests/${ordered.guid}/form`)).not.toContain('elsewhere');
  });

  it('are found by the typed reference in the queue that hides them', async () => {
    const ordered = await order(elsewhere);
    const { batches } = await stored(application, ordered.guid);
    const queue = await openList(application, 'LocationSampleQueue', ordered.context);
    const answer = await queue.post('requests', [
      ['q', batches[0]?.orderReference ?? ''],
      ['action', 'search'],
    ]);
    expect(locationOf(answer)).toBe(`${queue.home}requests/${ordered.guid}/samples`);
  });

  it('are chosen for each laboratory: one collected here now, another elsewhere', async () => {
    const ordered = await order([
      ['collect', 'each'],
      [pathology, 'now'],
      [microbiology, 'elsewhere'],
      ['collected-by', 'Hill, Ada'],
    ]);
    const { status, batches } = await stored(application, ordered.guid);
    expect(status).toBe('Incomplete');
    expect(batches.map((batch) => [batch.status, batch.isElsewhere, batch.samples[0]?.collectedBy])).toEqual([
      ['S', undefined, 'Hill, Ada'],
      ['R', true, undefined],
    ]);
  });

  it.each([
    ['a choice that no page offers', [['collect', 'hub']], 400],
    [
      'another choice for a laboratory',
      [
        ['collect', 'each'],
        [pathology, 'hub'],
      ],
      400,
    ],
    ['no choice', [], 303],
    ['a laboratory without a choice', [['collect', 'each']], 303],
  ] as [string, [string, string][], number][])(
    'are collected here later, or refused, with %s',
    async (_, fields, status) => {
      const ordered = await order(fields);
      expect(ordered.answer.status).toBe(status);
      if (status !== 303) return;
      const { batches } = await stored(application, ordered.guid);
      expect(batches.map((batch) => [batch.status, batch.isElsewhere])).toEqual(
        batches.map(() => ['R', undefined]),
      );
    },
  );

  it('are marked on the result page, the request, the form and the labels', async () => {
    const ordered = await order(elsewhere);
    expect(textOf(await ordered.launch.page(locationOf(ordered.answer) ?? ''))).toContain(
      'To be collected elsewhere. Give the patient the request form and the labels',
    );
    const reader = await openAction(application, 'PatientReport', ordered);
    const read = async (path: string) => textOf(await reader.page(`requests/${ordered.guid}${path}`));
    expect(await read('')).toContain('To be collected elsewhere');
    expect(await read('/form')).toContain('Samples, to be collected elsewhere: not at this practice');
    expect(await read('/labels')).toContain('Elsewhere: date and time');
  });

  it('can still change: an added test of the same laboratory is collected elsewhere, too', async () => {
    const ordered = await order(elsewhere, { tests: ['HFBC'] });
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BUE'] });
    expect(locationOf(await submitChange(launch))).toContain('/orders/');
    const { batches } = await stored(application, ordered.guid);
    expect([linesOf({ batches }), batches[0]?.isElsewhere]).toEqual([[['HFBC S1 R', 'BUE S2 R']], true]);
  });
});

describe('a queue', () => {
  it.each<Action>(['LocationSampleQueue', 'PatientRequestList'])(
    'hides requests collected elsewhere behind a count until they are overdue or shown: %s',
    async (action) => {
      const at = { practice: aPractice(), patient: aPatient() };
      const here = await order([], at);
      const mixed = await order(
        [
          ['collect', 'each'],
          [microbiology, 'elsewhere'],
        ],
        at,
      );
      const hidden = await order(elsewhere, at);
      const open = () => openList(application, action, { request: at });
      const queue = await open();
      const page = await queue.page('requests');
      expect(listedIn(page)).toEqual([mixed.guid, here.guid]);
      expect(textOf(page)).toContain('Collected elsewhere, not shown until overdue: 1 Show');
      const found = await search(queue, 'full blood count');
      expect(listedIn(found)).toEqual([mixed.guid, here.guid]);
      expect(textOf(found)).toContain('not shown until overdue: 1');
      expect(textOf(await search(queue, 'ferritin'))).toContain('not shown until overdue: 0');

      const shown = await open();
      await shown.post('requests', [
        ['status', 'elsewhere'],
        ['action', 'search'],
      ]);
      const only = await shown.page('requests');
      expect(listedIn(only)).toEqual([hidden.guid]);
      expect(textOf(only)).toContain('0 of 2 samples collected Elsewhere');

      application.clock.advance({ seconds: 86_400 });
      const late = await (await open()).page('requests');
      expect(listedIn(late)).toEqual([hidden.guid, mixed.guid, here.guid]);
      expect(textOf(late)).toContain('not shown until overdue: 0');
    },
  );

  it('of a patient in PatientSampleQueue or UpdateTest hides no request', async () => {
    const at = { practice: aPractice(), patient: aPatient() };
    const ordered = await order(elsewhere, at);
    for (const action of ['PatientSampleQueue', 'UpdateTest', 'PatientReportList'] as const) {
      const launch = await openList(application, action, { request: at });
      expect(listedIn(await launch.page('requests'))).toEqual([ordered.guid]);
    }
  });

  it('hides a request only while no sample remains to be collected here', async () => {
    const at = { practice: aPractice(), patient: aPatient() };
    const ordered = await order(
      [
        ['collect', 'each'],
        [microbiology, 'elsewhere'],
      ],
      at,
    );
    const queue = await openList(application, 'LocationSampleQueue', { request: at });
    await record({ ...queue, guid: ordered.guid }, taken('S1'));
    expect(listedIn(await queue.page('requests'))).toEqual([]);
    const change = await openChange(application, ordered);
    await press(change, 'review', { at: change.at, tick: ['BUE'] });
    await submitChange(change);
    expect(listedIn(await queue.page('requests'))).toEqual([ordered.guid]);
  });
});
