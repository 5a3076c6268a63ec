import { randomUUID } from 'node:crypto';
import { assertCloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Action, LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  anOrder,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  openAction,
  openForOrder,
  rowsOf,
  startOrdering,
  submit,
} from './launches.ts';
import { publishedBy } from './published-events.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** Returns a patient who has no requests yet. */
const aPatient = (name = 'Pickering'): LaunchPatient => ({
  ...aLaunchContext().request.patient,
  name: { title: 'Mr', family: name, given: ['George'] },
  identifiers: [{ system: 'hospital-number', value: randomUUID() }],
});

/** Submits an order with these fields of the review. Returns the GUID of the request and its launch. */
async function orderWith(tick: string[], fields: [string, string][], patient = aPatient()) {
  const context = aLaunchContext({ request: { patient } });
  const launch = await chooseAndReview(application, tick, context);
  const html = await launch.page('review');
  const hidden = ['launch', 'submission', 'version'].map(
    (name) => [name, fieldValues(html, name)[0] ?? ''] as const,
  );
  const response = await launch.post('review', [...hidden, ...fields, ['action', 'submit']]);
  const [, guid = ''] = /orders\/(.*)$/.exec(response.headers.get('location') ?? '') ?? [];
  return { guid, context, launch };
}

/** Sends the form of the page for recording samples. */
async function record(launch: OpenLaunch, guid: string, fields: [string, string][]): Promise<void> {
  const html = await launch.page(`requests/${guid}/samples`);
  const hidden = ['launch', 'submission', 'version'].map(
    (name) => [name, fieldValues(html, name)[0] ?? ''] as const,
  );
  const when: [string, string][] = [
    ['by', 'Nurse <Kelly>'],
    ['day', '2'],
    ['month', '3'],
    ['year', '2026'],
    ['time', '9:05'],
  ];
  const response = await launch.post(`requests/${guid}/samples`, [
    ...hidden,
    ...when,
    ...fields,
    ['action', 'record'],
  ]);
  expect(response.status).toBe(303);
}

/** Returns the text of a page without tags, with one space between words. */
const textOf = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

describe('the page of a request', () => {
  it('shows the requester, tests, samples, answers, status and history', async () => {
    const patient = aPatient();
    await orderWith(['HFER'], [], patient);
    const order = await orderWith(
      ['HMAL', 'HFER', 'KMSU', 'XCXR'],
      [
        ['priority', 'urgent'],
        ['details', 'Fever\n  since <Monday>'],
        ['answer:travel', 'Kenya & Uganda'],
        ['reason:HFER', 'Result “lost”'],
      ],
      patient,
    );
    const collector = await openAction(application, 'PatientSampleQueue', order);
    await record(collector, order.guid, [
      ['taken:S1', 'yes'],
      ['quantity:S1', '2'],
    ]);
    const reader = await openAction(application, 'PatientReport', order);
    const html = await reader.page(`requests/${order.guid}`);
    const text = textOf(html);
    const [row] = await rowsOf(application, order.launch);
    for (const { orderReference } of row?.batches ?? []) expect(text).toContain(orderReference);
    for (const said of [
      'Incomplete Urgent Waiting for samples. You can still change it from your practice system.',
      'Priority Urgent',
      'Requested 2 March 2026 at 09:30',
      'Requested by Bairstow, Thomas (Dr)',
      'Entered by Okonkwo, Adaeze (Dr)',
      'Practice Harbour Surgery',
      'Ferritin Sample recorded on 2 March 2026 at 09:30 Repeated because: Result “lost” Sample collected',
      'Malaria parasites Requested on 2 March 2026 at 09:30 Requested',
      'Serum (gold top) × 2 Collected on 2 March 2026 at 09:05 by Nurse &lt;Kelly&gt;',
      'EDTA blood (purple top) Not collected yet',
      'Chest X-ray Requested on 2 March 2026 at 09:30 Requested No sample needed.',
      'Travel outside the UK in the last 12 months Kenya &amp; Uganda',
      'History Requested 2 March 2026 at 09:30 by Okonkwo, Adaeze (Dr) Samples recorded 2 March 2026 at 09:30 by Okonkwo, Adaeze (Dr)',
    ]) {
      expect(text).toContain(said);
    }
    expect(html).toMatch(/<p class="app-request__text"[^>]*>Fever\n {2}since &lt;Monday&gt;<\/p>/);
  });

  it('shows a removed test as removed, and who changed the tests', async () => {
    const order = await anOrder(
      application,
      ['HFBC', 'BUE'],
      aLaunchContext({ request: { patient: aPatient() } }),
    );
    const changer = await openAction(application, 'UpdateTest', order);
    const page = `requests/${order.guid}/tests/`;
    await changer.post(page, [
      ['was', 'HFBC'],
      ['action', 'update'],
    ]);
    const review = await changer.page(`${page}review`);
    await changer.post(`${page}review`, [
      ['version', fieldValues(review, 'version')[0] ?? ''],
      ['submission', fieldValues(review, 'submission')[0] ?? ''],
      ['action', 'submit'],
    ]);
    const text = textOf(await changer.page(`requests/${order.guid}`));
    expect(text).toContain('Full blood count Removed on 2 March 2026 at 09:30 Removed');
    expect(text).toContain('Tests changed 2 March 2026 at 09:30 by Okonkwo, Adaeze (Dr)');
    expect(text).not.toContain('EDTA blood');
  });

  it('writes times in the time zone of the practice', async () => {
    const until = Date.parse('2026-07-01T22:59:59Z') - application.clock.now();
    application.clock.advance({ seconds: until / 1000 });
    const reader = await openForOrder(application, 'PatientReport', ['HFBC']);
    expect(textOf(await reader.page(`requests/${reader.guid}`))).toContain('Requested 1 July 2026 at 23:59');
    application.clock.advance({ seconds: -until / 1000 });
  });

  it('escapes names that the practice system sent', async () => {
    const hostile = '"><script>alert(1)</script>';
    const context = aLaunchContext({
      request: {
        patient: aPatient(hostile),
        author: { username: 'x', name: { family: hostile, given: [] } },
        requester: {
          identifier: { system: 'local-staff-code', value: hostile },
          name: { family: hostile, given: [hostile] },
        },
        practice: { identifier: { system: 'local-org-code', value: hostile }, name: hostile },
      },
    });
    const launch = await chooseAndReview(application, ['HFBC'], context);
    const response = await submit(launch, hostile);
    const [, guid = ''] = /orders\/(.*)$/.exec(response.headers.get('location') ?? '') ?? [];
    const html = await launch.page(`requests/${guid}`);
    expect(html).not.toContain('<script>alert');
    expect(html.split('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;').length).toBeGreaterThan(6);
  });

  it.each([
    ['UpdateTest', 'tests/', 'Change tests'],
    ['PatientSampleQueue', 'samples', 'Record samples'],
    ['PatientRequestList', 'samples', 'Record samples'],
    ['LocationSampleQueue', 'samples', 'Record samples'],
  ] as const)('has a link for %s to the page that changes the request', async (action, page, text) => {
    const launch = await openForOrder(application, action, ['HFBC']);
    const html = await launch.page(`requests/${launch.guid}`);
    const link = `href="${launch.home}requests/${launch.guid}/${page}"`;
    expect(html.slice(html.indexOf(link))).toMatch(new RegExp(`^[^>]*>\\s*${text}\\s*</a>`));
    expect(html).toContain(`href="${launch.home}requests"`);
  });

  it.each(['OrderTest', 'PatientReport', 'PatientReportList', 'LocationReportList'] as const)(
    'has no link or form that changes the request for %s',
    async (action) => {
      const order = await orderWith(['HFBC'], []);
      const launch = action === 'OrderTest' ? order.launch : await openAction(application, action, order);
      const html = await launch.page(`requests/${order.guid}`);
      expect(html).not.toMatch(/Change tests|Record samples|<form(?![^>]*sign-out)/);
      const back = action === 'OrderTest' ? `orders/${order.guid}` : 'requests';
      expect(html).toContain(`href="${launch.home}${back}"`);
    },
  );

  it.each(['UpdateTest', 'PatientSampleQueue'] as const)(
    'states for %s that a Complete request cannot be changed',
    async (action) => {
      const launch = await openForOrder(application, action, ['XCXR']);
      const text = textOf(await launch.page(`requests/${launch.guid}`));
      expect(text).toContain('Complete Submitted to the laboratory. You cannot change it.');
      expect(text).toContain(
        'This request was submitted to the laboratory on 2 March 2026 at 09:30. You cannot change it.',
      );
      expect(text).not.toMatch(/Change tests|Record samples|Print sample labels/);
    },
  );
});

describe('access to the page of a request', () => {
  const otherPractice = {
    identifier: { system: 'ods-organization-code' as const, value: 'B82099' },
    name: 'Quayside Surgery',
  };

  it('is answered 404 to a launch for another patient, another practice or another order', async () => {
    const order = await orderWith(['HFBC'], []);
    const open = (action: Action, request = {}) =>
      application.openLaunch(aLaunchContext({ request: { ...order.context.request, action, ...request } }));
    const strangers = [
      await open('PatientReport', { patient: aPatient(), originatingId: 'HS-another' }),
      await open('PatientReportList', { patient: aPatient() }),
      await open('LocationReportList', { practice: otherPractice }),
      await open('OrderTest'),
    ];
    for (const stranger of strangers) {
      const response = await stranger.send(`requests/${order.guid}`);
      expect(response.status).toBe(404);
      expect(await response.text()).not.toContain('NCP-');
      expect(await publishedBy(application, stranger, 'order.viewed.v1')).toEqual([]);
      expect((await stranger.send(`${order.launch.home}requests/${order.guid}`)).status).toBe(401);
    }
  });

  it.each(['x', '%00', "'%20or%201=1", randomUUID(), `${randomUUID()}x`])(
    'is answered 404 for the GUID %s',
    async (guid) => {
      const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
      expect((await launch.send(`requests/${guid}`)).status).toBe(404);
    },
  );
});

describe('the audit trail of viewed requests', () => {
  it('records an event each time the page of a request is shown', async () => {
    const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
    for (const _time of [1, 2]) await launch.page(`requests/${launch.guid}`);
    const events = await publishedBy(application, launch, 'order.viewed.v1');
    for (const event of events) expect(() => assertCloudEvent(event)).not.toThrow();
    const viewed = {
      user: { username: launch.context.request.author.username, name: 'Dr Adaeze Okonkwo' },
      orderGuid: launch.guid,
      launchId: launch.launchId,
      action: 'PatientReport',
    };
    expect(events.map(({ data }) => data)).toMatchObject([viewed, viewed]);
  });

  it('names the patient of the request, even if the launch is for another patient of the practice', async () => {
    const { guid, context } = await orderWith(['HFBC'], []);
    const request = { ...context.request, action: 'LocationReportList' as const, patient: aPatient() };
    const launch = await application.openLaunch(aLaunchContext({ request }));
    await launch.page(`requests/${guid}`);
    const events = await publishedBy(application, launch, 'order.viewed.v1');
    expect(events.map(({ data }) => data.patient)).toEqual([
      application.pseudonyms.ofPatient(context.request.patient),
    ]);
  });

  it('does not record a HEAD request or a prefetch, and a prefetch is answered 400', async () => {
    const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
    const page = `requests/${launch.guid}`;
    expect((await launch.send(page, { method: 'HEAD' })).status).toBe(200);
    for (const headers of [{ 'Sec-Purpose': 'prefetch;prerender' }, { 'X-Moz': 'prefetch' }]) {
      const ahead = await launch.send(page, { headers });
      expect(ahead.status).toBe(400);
      expect(await ahead.text()).not.toMatch(/Whitfield/i);
    }
    expect(await publishedBy(application, launch, 'order.viewed.v1')).toEqual([]);
  });
});

describe('the audit trail of form posts whose response shows a test request', () => {
  it('records one `order.viewed.v1` event, however often the user posts the chosen tests', async () => {
    const launch = await openForOrder(application, 'UpdateTest', ['HFBC']);
    const at = `requests/${launch.guid}/tests/`;
    await launch.send(`${at}review`, { method: 'HEAD' });
    await launch.post(`${at}matches`, [['q', 'liver']]);
    expect(await publishedBy(application, launch, 'order.viewed.v1')).toEqual([]);
    for (const test of ['BLFT', 'BUE']) {
      const panel = await launch.post(`${at}chosen`, [['test', test]]);
      expect(await panel.text()).toContain('Full blood count');
    }
    expect(await publishedBy(application, launch, 'order.viewed.v1')).toHaveLength(1);
  });

  it.each([
    ['is invalid', '1', 'record', 400],
    ['conflicts', '7', 'record', 409],
    ['only ticks the samples', '1', 'all-now', 200],
  ])(
    'records an event if the page for recording samples answers a form that %s',
    async (_why, version, action, status) => {
      const launch = await openForOrder(application, 'PatientSampleQueue', ['HFBC']);
      const answer = await launch.post(`requests/${launch.guid}/samples`, [
        ['version', version],
        ['submission', randomUUID()],
        ['action', action],
      ]);
      expect(answer.status).toBe(status);
      expect(await answer.text()).toContain('Full blood count');
      expect(await publishedBy(application, launch, 'order.viewed.v1')).toHaveLength(1);
    },
  );
});

describe('the URL of a request', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'answers 405 to %s for UpdateTest, PatientSampleQueue and PatientReport',
    async (method) => {
      const order = await orderWith(['HFBC'], []);
      const before = await rowsOf(application, order.launch);
      for (const action of ['UpdateTest', 'PatientSampleQueue', 'PatientReport'] as const) {
        const launch = await openAction(application, action, order);
        for (const page of ['', '/form', '/labels']) {
          const body = new URLSearchParams({ test: 'BUE', action: 'submit' });
          const response = await launch.send(`requests/${order.guid}${page}`, { method, body });
          expect([page, response.status, response.headers.get('allow')]).toEqual([page, 405, 'GET']);
        }
      }
      expect(await rowsOf(application, order.launch)).toEqual(before);
    },
  );
});
