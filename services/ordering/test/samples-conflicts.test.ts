import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  anOrder,
  openAction,
  openForOrder,
  startOrdering,
} from './launches.ts';
import { eventsOf } from './published-events.ts';
import {
  author,
  now,
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

describe('forged sample forms', () => {
  const valid: [string, string][] = [
    ['submission', '5f4d8a52-7c0d-4c7e-9a58-0a3f6f1f3b01'],
    ['version', '1'],
    ['by', 'Nurse'],
    ['day', '2'],
    ['month', '3'],
    ['year', '2026'],
    ['time', '09:00'],
    ['taken:S1', 'yes'],
  ];
  const without = (name: string) => valid.filter(([field]) => field !== name);

  it.each<[string, [string, string][], number]>([
    ['a sample that the request does not have', [...valid, ['taken:S9', 'yes']], 400],
    ['an invalid sample id', [...valid, ['taken:__proto__', 'yes']], 400],
    ['a field that no sample has', [...valid, ['completedAt:S1', '2026-03-02']], 400],
    ['a field twice', [...valid, ['taken:S1', 'yes']], 400],
    ['an unknown button', [...valid, ['action', 'complete']], 400],
    ['no submission', without('submission'), 400],
    ['no version', without('version'), 400],
    ['a version that is not a number', [...without('version'), ['version', '1e0']], 400],
    ['a version that is too large', [...without('version'), ['version', '99999999999999999999']], 400],
    ['a future version', [...without('version'), ['version', '2']], 409],
    ['more than a form may contain', [...valid, ['by:S1', 'x'.repeat(70_000)]], 413],
    ['a form of another launch', [...valid, ['launch', '5f4d8a52-7c0d-4c7e-9a58-0a3f6f1f3b02']], 409],
  ])('are refused, and the service stores nothing: %s', async (_case, fields, status) => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    expect((await launch.post(samplesPage(launch), fields)).status).toBe(status);
    expect((await stored(application, launch)).version).toBe(1);
    expect((await launch.post(samplesPage(launch), valid)).status).toBe(303);
  });

  it('may repeat the submission id of another request, and change only their own request', async () => {
    const first = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const second = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    for (const launch of [first, second]) {
      const own = [...without('submission'), ['submission', first.guid]] as [string, string][];
      expect((await launch.post(samplesPage(launch), own)).status).toBe(303);
      expect((await stored(application, launch)).version).toBe(2);
    }
  });

  it('are refused for actions that do not record samples, and for another patient', async () => {
    const order = await anOrder(application, threeSamples);
    for (const action of ['PatientReport', 'PatientReportList', 'LocationReportList', 'OrderTest'] as const) {
      const reader = await openAction(application, action, order);
      expect((await reader.send(samplesPage(order))).status).toBe(403);
      expect((await reader.post(samplesPage(order), valid)).status).toBe(403);
    }
    const { patient } = order.context.request;
    const neighbour = await application.openLaunch(
      aLaunchContext({
        request: {
          action: 'PatientSampleQueue',
          patient: { ...patient, identifiers: [{ system: 'nhs-number', value: '9434765870' }] },
        },
      }),
    );
    expect((await neighbour.send(samplesPage(order))).status).toBe(404);
    expect((await neighbour.post(samplesPage(order), valid)).status).toBe(404);
    expect((await stored(application, order)).version).toBe(1);
  });
});

describe('two sample forms for one request', () => {
  it.each([
    ['one after the other', async (send: () => Promise<Response>) => [await send(), await send()]],
    ['at the same instant', (send: () => Promise<Response>) => Promise.all([send(), send(), send(), send()])],
  ])('are stored once if they are equal and sent %s', async (_case, sendAll) => {
    const launch = await openForOrder(application, 'PatientRequestList', threeSamples);
    const html = await launch.page(samplesPage(launch));
    const answers = await sendAll(() => record(launch, taken('S1', 'S2', 'S3'), html));
    for (const { status, headers } of answers) {
      expect([status, headers.get('location')]).toEqual([303, resultOf(launch)]);
    }
    expect((await stored(application, launch)).version).toBe(2);
    expect(await eventsOf(application, launch)).toHaveLength(1);
  });

  it('are both stored if they differ, after the user sends the second form again', async () => {
    const launch = await openForOrder(application, 'PatientRequestList', threeSamples);
    const html = await launch.page(samplesPage(launch));
    await record(launch, taken('S1'), html);
    const again = await record(launch, taken('S1', 'S2'), html);
    expect(again.status).toBe(409);
    expect((await record(launch, {}, await again.text())).status).toBe(303);
    expect((await recordedOf(application, launch)).S2?.completedAt).toBe(now);
  });

  it('show the second user a conflict page with the first user, the stored values and the remaining ticks', async () => {
    const order = await anOrder(application, threeSamples);
    const request = {
      ...order.context.request,
      author: { username: 'j.hill', name: { family: 'Hill', given: ['Jo'] } },
    };
    const first = await openAction(application, 'LocationSampleQueue', {
      guid: order.guid,
      context: { ...order.context, request },
    });
    const second = await openAction(application, 'PatientSampleQueue', order);
    const html = await second.page(samplesPage(second));
    await record(first, { ...taken('S1'), time: '08:00' });
    const conflict = await record(second, { ...taken('S1', 'S2'), 'quantity:S2': '2' }, html);
    expect(conflict.status).toBe(409);
    const page = await conflict.text();
    expect(page).toContain('Hill, Jo changed this request on 2 March 2026 at 09:30.');
    expect(page).toContain('Collected 2 March 2026 at 08:00 by <bdi>Hill, Jo</bdi>');
    expect(await eventsOf(application, second)).toEqual([]);
    expect((await record(second, {}, page)).status).toBe(303);
    expect(await recordedOf(application, order)).toEqual({
      S1: { completedAt: '2026-03-02T08:00:00.000Z', collectedBy: 'Hill, Jo', quantity: 1 },
      S2: { completedAt: now, collectedBy: author, quantity: 2 },
      S3: { quantity: 1 },
    });
  });

  it('cause the answer 409 for the second user if the first user completed the request', async () => {
    const order = await anOrder(application, threeSamples);
    const first = await openAction(application, 'PatientSampleQueue', order);
    const second = await openAction(application, 'PatientSampleQueue', order);
    const html = await second.page(samplesPage(second));
    await record(first, taken('S1', 'S2', 'S3'));
    for (const action of ['record', 'all-now']) {
      expect((await record(second, { ...taken('S1'), action }, html)).status).toBe(409);
    }
    expect((await stored(application, order)).version).toBe(2);
  });
});

describe('the service on PostgreSQL', () => {
  it('stores only one of eight sample forms that are sent at the same time', async () => {
    const database = await createTestDatabase();
    const own = await startOrdering(() =>
      openPostgresStorage({ url: database.url, applicationName: 'record-samples' }),
    );
    try {
      const order = await anOrder(own, threeSamples);
      const launches = await Promise.all(
        Array.from({ length: 8 }, () => openAction(own, 'LocationSampleQueue', order)),
      );
      const pages = await Promise.all(launches.map((launch) => launch.page(samplesPage(launch))));
      const answers = await Promise.all(
        launches.map((launch, index) =>
          record(launch, { ...taken('S1'), by: `Nurse ${index}` }, pages[index]),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.toSorted((one, other) => one - other)).toEqual([303, ...Array(7).fill(409)]);
      const { version, batches } = await stored(own, order);
      expect(version).toBe(2);
      expect(batches[0]?.samples[0]?.collectedBy).toBe(`Nurse ${statuses.indexOf(303)}`);
    } finally {
      await own.stop();
      await database.drop();
    }
  });
});
