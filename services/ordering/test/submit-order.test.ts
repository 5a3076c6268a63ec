import { assertCloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  chooseAndReview,
  fieldValues,
  press,
  rowsOf,
  startOrdering,
  submit,
} from './launches.ts';
import { eventsOf, orderIn } from './published-events.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

describe('the review of an order', () => {
  it('shows the tests with their laboratories, the samples and the requester', async () => {
    const launch = await chooseAndReview(application, ['HFBC', 'KMSU', 'XCXR']);
    const html = await launch.page('review');
    for (const text of [
      'Full blood count',
      'Urine culture',
      'Chest X-ray',
      'Seaview Imaging Centre',
      'EDTA blood, purple top',
      'No sample needed',
      'Bairstow, Thomas (Dr)',
      'Harbour Surgery',
    ]) {
      expect(html).toContain(text);
    }
  });

  it('has a Back button that stores the clinical details', async () => {
    const launch = await chooseAndReview(application, ['HFBC']);
    const back = await launch.post('review', [
      ['details', 'Tired\r\nfor <3 weeks'],
      ['action', 'back'],
    ]);
    expect([back.status, back.headers.get('location')]).toEqual([303, launch.home]);
    expect(await launch.page('review')).toMatch(/<textarea[^>]*>Tired\nfor &lt;3 weeks<\/textarea>/);
  });

  it('does not submit a draft that was changed after the page was loaded', async () => {
    const launch = await chooseAndReview(application, ['HFBC']);
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    await press(launch, 'update', { tick: ['BUE'] });
    const refused = await launch.post('review', [
      ['version', version],
      ['action', 'submit'],
    ]);
    expect(refused.headers.get('location')).toBe(`${launch.home}review?changed`);
    expect(await launch.page('review?changed')).toContain('The request was not submitted');
    expect(await rowsOf(application, launch)).toEqual([]);
    expect((await submit(launch)).headers.get('location')).toContain('/orders/');
  });

  it('shows an error for clinical details of more than 2000 characters, and keeps the text', async () => {
    const launch = await chooseAndReview(application, ['HFBC']);
    const details = 'x'.repeat(2001);
    expect((await submit(launch, details)).headers.get('location')).toBe(`${launch.home}review?check`);
    const html = await launch.page('review?check');
    expect(html).toContain('Clinical details must be 2000 characters or fewer');
    expect(html).toContain(details);
    expect(await rowsOf(application, launch)).toEqual([]);
    expect((await submit(launch, details.slice(1))).headers.get('location')).toContain('/orders/');
  });
});

describe('a submitted order', () => {
  it('is published in an event whose decrypted order contains the chosen tests', async () => {
    const launch = await chooseAndReview(application, ['HFBC', 'DHBA1C', 'BUE', 'VHIV', 'XCXR', 'DEXA']);
    const { request } = launch.context;
    await submit(launch, 'Tired all the time');
    const [event, ...more] = await eventsOf(application, launch);
    expect(more).toEqual([]);
    expect(() => assertCloudEvent(event)).not.toThrow();
    if (event === undefined) throw new Error('No event was published');
    expect(event.data).toMatchObject({
      launchId: launch.launchId,
      issuer: launch.context.client.issuer,
      clientId: 'pms-demo',
      batches: 3,
      tests: 6,
    });
    const order = orderIn(application, event);
    expect(order).toMatchObject({
      guid: event.data.orderGuid,
      patient: request.patient,
      requester: request.requester,
      practice: request.practice,
      performer: request.performer,
      authoredOn: request.authoredOn,
    });
    const clicked = order.batches.map(({ id, provider, category, status, samples, tests }) => ({
      id,
      provider,
      category,
      status,
      samples,
      tests: tests.map(
        (test) => `${test.id} ${test.code.scheme} ${test.code.value} ${test.sample} ${test.status}`,
      ),
    }));
    expect(clicked).toEqual([
      {
        id: 'B1',
        provider: { name: 'North Coast Pathology', code: { value: 'RCB00', scheme: 'NHSORGANISATIONS' } },
        category: 'Pathology',
        status: 'R',
        samples: [
          { id: 'S1', description: 'Serum (gold top)' },
          { id: 'S2', description: 'EDTA blood (purple top)' },
        ],
        tests: ['T1 LOCAL HFBC S2 R', 'T2 LOCAL BUE S1 R', 'T3 LOCAL DHBA1C S2 R'],
      },
      {
        id: 'B2',
        provider: { name: 'Westcliff Microbiology', code: { value: 'WMV01', scheme: 'LOCAL' } },
        category: 'Pathology',
        status: 'R',
        samples: [{ id: 'S3', description: 'Serum (gold top)' }],
        tests: ['T4 LOCAL VHIV S3 R'],
      },
      {
        id: 'B3',
        provider: { name: 'Seaview Imaging Centre', code: { value: 'RCB22', scheme: 'NHSORGANISATIONS' } },
        category: 'Imaging',
        status: 'R',
        samples: [{ id: 'S4', description: 'No sample needed' }],
        tests: ['T5 LOCAL XCXR S4 R', 'T6 LOCAL DEXA S4 R'],
      },
    ]);
  });

  it('is stored as Incomplete, with clinical details, and the keys of its practice and its patient', async () => {
    const longCode = 'P'.repeat(1024);
    const practice = {
      identifier: { system: 'local-org-code' as const, value: longCode },
      name: 'Harbour Surgery',
    };
    const context = aLaunchContext({ request: { practice, originatingId: 'o'.repeat(1024) } });
    const launch = await chooseAndReview(application, ['HFBC'], context);
    await submit(launch, 'Tired\u0000all the time');
    const sameHospitalNumber = {
      ...context.request.patient,
      identifiers: [
        { system: 'hospital-number' as const, value: '42' },
        { system: 'nhs-number' as const, value: '9434765919' },
      ],
    };
    const other = await chooseAndReview(
      application,
      ['HFBC'],
      aLaunchContext({ request: { practice, patient: sameHospitalNumber } }),
    );
    await submit(other);
    const foreign = await chooseAndReview(
      application,
      ['HFBC'],
      aLaunchContext({ request: { patient: sameHospitalNumber }, client: { clientId: 'pms-other' } }),
    );
    await submit(foreign);
    const [[row], [otherRow], [foreignRow]] = [
      await rowsOf(application, launch),
      await rowsOf(application, other),
      await rowsOf(application, foreign),
    ];
    expect(row).toMatchObject({
      status: 'Incomplete',
      version: 1,
      clinical_details: 'Tired all the time',
      practice_system: 'local-org-code',
      practice_code: longCode,
      originating_id: 'o'.repeat(1024),
    });
    expect(row?.practice_key).toBe(otherRow?.practice_key);
    expect(row?.practice_key).not.toBe(foreignRow?.practice_key);
    expect(row?.patient_keys).toEqual([otherRow?.patient_keys[1]]);
    expect(foreignRow?.patient_keys[1]).toBe(otherRow?.patient_keys[1]);
    expect(foreignRow?.patient_keys[0]).not.toBe(otherRow?.patient_keys[0]);
  });

  it('has a different order reference for each batch', async () => {
    const launches = await Promise.all([1, 2, 3].map(() => chooseAndReview(application, ['HFBC', 'XCXR'])));
    await Promise.all(launches.map((launch) => submit(launch)));
    const rows = (await Promise.all(launches.map((launch) => rowsOf(application, launch)))).flat();
    const references = rows.flatMap(({ batches }) => batches.map(({ orderReference }) => orderReference));
    expect(new Set(references).size).toBe(6);
    for (const reference of references) expect(reference).toMatch(/^(NCP|SVI)-\d{6}$/);
  });

  it.each([
    ['twice, one after the other', async (send: () => Promise<Response>) => [await send(), await send()]],
    ['at the same instant', (send: () => Promise<Response>) => Promise.all([send(), send(), send(), send()])],
  ])('is stored once when it is submitted %s', async (_case, sendAll) => {
    const launch = await chooseAndReview(application, ['HFBC', 'XCXR']);
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const answers = await sendAll(() =>
      launch.post('review', [
        ['version', version],
        ['details', 'Cough'],
        ['action', 'submit'],
      ]),
    );
    const [row, ...more] = await rowsOf(application, launch);
    expect(more).toEqual([]);
    const result = `${launch.home}orders/${row?.guid}`;
    expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual(
      answers.map(() => [303, result]),
    );
    expect(await eventsOf(application, launch)).toHaveLength(1);
  });

  it('ends the launch: each of its pages and forms redirects to the result page', async () => {
    const launch = await chooseAndReview(application, ['HFBC']);
    const result = (await submit(launch)).headers.get('location');
    for (const path of ['', 'review']) {
      expect((await launch.send(path)).headers.get('location')).toBe(result);
      const posted = await launch.post(path, [
        ['test', 'XCXR'],
        ['action', 'update'],
      ]);
      expect(posted.headers.get('location')).toBe(result);
    }
    expect(await rowsOf(application, launch)).toHaveLength(1);
  });
});
