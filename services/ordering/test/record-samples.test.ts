import { assertCloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { defaultXmlNamespace } from '@clinical-launch/contracts/namespaces';
import type { Order } from '@clinical-launch/contracts/order/order';
import { renderOrderDocument } from '@clinical-launch/contracts/order/order-document';
import { schemaFaultsOf } from '@clinical-launch/testing/xml';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  anOrder,
  fieldValues,
  openAction,
  openForOrder,
  startOrdering,
} from './launches.ts';
import { eventsOf, orderIn } from './published-events.ts';
import {
  author,
  now,
  problemsOf,
  record,
  recordedOf,
  resultOf,
  samplesPage,
  stored,
  taken,
  threeSamples,
} from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const recordingActions = ['PatientSampleQueue', 'PatientRequestList', 'LocationSampleQueue'] as const;

const render = (order: Order) =>
  renderOrderDocument(order, {
    messageId: '5f4d8a52-7c0d-4c7e-9a58-0a3f6f1f3b01',
    xmlNamespace: defaultXmlNamespace,
    timeZone: 'Europe/London',
    system: { name: 'Clinical Launch', version: '1.0.0' },
  });

const statusesOf = ({ batches }: Order) =>
  batches.map(({ status, statusAt, tests }) => [
    `${status} ${statusAt}`,
    ...tests.map((test) => `${test.code.value} ${test.status} ${test.statusAt}`),
  ]);

/** Returns the completion time of each sample in an order document. */
const completionTimesIn = (document = '') =>
  [...document.matchAll(/<sampleCompletionTime(?:\/>|>([^<]*)<)/g)].map(([, time = '']) => time);

/** Returns the samples for which a page shows the fields of a different person and time. */
const opened = (html: string) =>
  [...html.matchAll(/app-sample__own" open>.*?name="by:(\w+)"/gs)].map(([, sample]) => sample);

describe('recording samples', () => {
  it.each(recordingActions)(
    'completes the request with the last sample, and a Complete request cannot be changed: %s',
    async (action) => {
      const launch = await openForOrder(application, action, threeSamples);
      const response = await record(launch, taken('S1', 'S2', 'S3'));
      expect([response.status, response.headers.get('location')]).toEqual([303, resultOf(launch)]);
      expect(await stored(application, launch)).toMatchObject({ status: 'Complete', version: 2 });
      const sample = { completedAt: now, collectedBy: author, quantity: 1 };
      expect(await recordedOf(application, launch)).toEqual({ S1: sample, S2: sample, S3: sample });

      const [event, ...more] = await eventsOf(application, launch);
      if (event === undefined) throw new Error('No event was published');
      expect(more).toEqual([]);
      expect(() => assertCloudEvent(event)).not.toThrow();
      expect(event.data).toMatchObject({
        orderGuid: launch.guid,
        action,
        orderVersion: 2,
        status: 'Complete',
        batches: 2,
        tests: 3,
      });

      expect((await launch.send(samplesPage(launch))).status).toBe(409);
      const again = await launch.post(samplesPage(launch), [
        ['submission', launch.guid],
        ['version', '2'],
        ['quantity:S1', '2'],
      ]);
      expect(again.status).toBe(409);
      expect(await again.text()).toContain('has been submitted to the laboratory, so you cannot change it');
      expect((await stored(application, launch)).version).toBe(2);
      expect(await eventsOf(application, launch)).toHaveLength(1);
    },
  );

  it('sends a document of all samples after each of two steps, with new times only for the step’s samples', async () => {
    const own = await startOrdering();
    try {
      const launch = await openForOrder(own, 'PatientSampleQueue', threeSamples);
      own.clock.advance({ seconds: 600 });
      const first = await record(launch, taken('S1', 'S2'));
      expect(first.headers.get('location')).toBe(resultOf(launch));
      expect((await stored(own, launch)).status).toBe('Incomplete');
      own.clock.advance({ seconds: 900 });
      await record(launch, taken('S3'));
      expect((await stored(own, launch)).status).toBe('Complete');

      const [partial, complete] = await eventsOf(own, launch);
      if (partial === undefined || complete === undefined) throw new Error('Two events were expected');
      expect([partial, complete].map(({ data }) => [data.orderVersion, data.status])).toEqual([
        [2, 'Incomplete'],
        [3, 'Complete'],
      ]);
      const [ordered, half, whole] = ['09:30', '09:40', '09:55'].map((time) => `2026-03-02T${time}:00.000Z`);
      expect(statusesOf(orderIn(own, partial))).toEqual([
        [`S ${half}`, `HFBC S ${half}`, `BUE S ${half}`],
        [`R ${ordered}`, `KMSU R ${ordered}`],
      ]);
      expect(statusesOf(orderIn(own, complete))).toEqual([
        [`S ${half}`, `HFBC S ${half}`, `BUE S ${half}`],
        [`S ${whole}`, `KMSU S ${whole}`],
      ]);
      const documents = [partial, complete].map((event) => render(orderIn(own, event)));
      for (const document of documents) expect(await schemaFaultsOf(document)).toEqual([]);
      expect(completionTimesIn(documents[0])).toEqual(['20260302094000', '20260302094000', '']);
      expect(completionTimesIn(documents[1])).toEqual(['20260302094000', '20260302094000', '20260302095500']);
    } finally {
      await own.stop();
    }
  });

  it('accepts a number of tubes for each sample, and a different person, date or time for one sample', async () => {
    const launch = await openForOrder(application, 'LocationSampleQueue', threeSamples);
    await record(launch, {
      ...taken('S1', 'S2'),
      by: 'Nurse Hill',
      time: '9.05am',
      'by:S2': '  Dr\tÓ Briain ',
      'day:S2': '1',
      'month:S2': '03',
      'year:S2': '2026',
      'quantity:S1': '3',
      'quantity:S3': '2',
      // For a sample that is not ticked, the service reads only the quantity.
      'time:S3': 'later',
    });
    expect(await recordedOf(application, launch)).toEqual({
      S1: { completedAt: '2026-03-02T09:05:00.000Z', collectedBy: 'Nurse Hill', quantity: 3 },
      S2: { completedAt: '2026-03-01T09:05:00.000Z', collectedBy: 'Dr Ó Briain', quantity: 1 },
      S3: { quantity: 2 },
    });
    const [event] = await eventsOf(application, launch);
    if (event === undefined) throw new Error('No event was published');
    // The order in the event contains neither the person who collected a sample nor the number of tubes.
    expect(JSON.stringify(orderIn(application, event))).not.toMatch(/Hill|Briain|quantity/);
  });

  it('can correct and remove recorded samples while the request is Incomplete', async () => {
    const launch = await openForOrder(application, 'PatientRequestList', threeSamples);
    await record(launch, taken('S1', 'S2'));
    await record(launch, { 'taken:S1': undefined, 'time:S2': '8:15' });
    expect(await recordedOf(application, launch)).toEqual({
      S1: { quantity: 1 },
      S2: { completedAt: '2026-03-02T08:15:00.000Z', collectedBy: author, quantity: 1 },
      S3: { quantity: 1 },
    });
    const [, event] = await eventsOf(application, launch);
    if (event === undefined) throw new Error('Two events were expected');
    const [batch] = orderIn(application, event).batches;
    expect(batch?.tests.map(({ code, status }) => [code.value, status])).toEqual([
      ['HFBC', 'S'],
      ['BUE', 'R'],
    ]);
    expect(batch?.status).toBe('R');
  });

  it('keeps the recorded time of a sample, including the seconds, unless the user corrects it', async () => {
    const own = await startOrdering();
    try {
      own.clock.advance({ seconds: 17 });
      const order = await anOrder(own, threeSamples);
      const launch = await openAction(own, 'PatientSampleQueue', order);
      await record(launch, taken('S1'));
      own.clock.advance({ seconds: 90 * 86_400 });
      const later = await openAction(own, 'PatientSampleQueue', order);
      expect((await record(later, taken('S2'))).status).toBe(303);
      const { batches } = await stored(own, order);
      // The second sample is recorded in British Summer Time, an hour ahead of UTC.
      expect(batches.flatMap(({ samples }) => samples.map(({ completedAt }) => completedAt))).toEqual([
        '2026-03-02T09:30:00.000Z',
        '2026-05-31T09:30:00.000Z',
        undefined,
      ]);
      expect(await later.page(samplesPage(later))).toContain('Collected 31 May 2026 at 10:30');
    } finally {
      await own.stop();
    }
  });

  it('changes only samples whose fields the form contains', async () => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    await record(launch, taken('S1'));
    const [submission = ''] = fieldValues(await launch.page(samplesPage(launch)), 'submission');
    const sent = await launch.post(samplesPage(launch), [
      ['submission', submission],
      ['version', '2'],
      ['by', 'Nurse Hill'],
      ['day', '2'],
      ['month', '3'],
      ['year', '2026'],
      ['time', '09:00'],
      ['taken:S2', 'yes'],
    ]);
    expect(sent.status).toBe(303);
    expect(Object.keys((await recordedOf(application, launch)).S1 ?? {})).toContain('completedAt');
    expect((await recordedOf(application, launch)).S2?.collectedBy).toBe('Nurse Hill');
  });

  it('answers 400 and stores nothing if the form contains no new sample', async () => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const empty = await record(launch, {});
    expect(empty.status).toBe(400);
    expect(problemsOf(await empty.text())).toEqual(['#taken-S1 Tick the samples that have been collected']);
    await record(launch, taken('S1'));
    const same = await record(launch, {});
    expect(same.status).toBe(400);
    expect(problemsOf(await same.text())).toEqual([
      '#taken-S1 These samples are already recorded. Tick the samples that have been collected since, or correct one',
    ]);
    expect((await stored(application, launch)).version).toBe(2);
    expect(await eventsOf(application, launch)).toHaveLength(1);
  });

  it('can tick every sample with the current time by one button, which stores nothing', async () => {
    const own = await startOrdering();
    try {
      const launch = await openForOrder(own, 'PatientSampleQueue', threeSamples);
      const html = await launch.page(samplesPage(launch));
      own.clock.advance({ seconds: 600 });
      const ticked = await record(
        launch,
        { action: 'all-now', by: 'Nurse Hill', 'quantity:S2': '2', 'time:S3': '09:00' },
        html,
      );
      expect(ticked.status).toBe(200);
      const page = await ticked.text();
      expect(page).toContain('Every sample is ticked');
      expect([html, page].map(opened)).toEqual([[], ['S3']]);
      expect((await stored(own, launch)).version).toBe(1);
      expect((await record(launch, {}, page)).status).toBe(303);
      const { status, batches } = await stored(own, launch);
      expect(status).toBe('Complete');
      expect(batches.flatMap(({ samples }) => samples.map((sample) => sample.completedAt))).toEqual([
        '2026-03-02T09:40:00.000Z',
        '2026-03-02T09:40:00.000Z',
        '2026-03-02T09:00:00.000Z',
      ]);
    } finally {
      await own.stop();
    }
  });
});
