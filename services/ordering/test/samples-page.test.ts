import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonb, openOrderingDatabase } from '../src/store/database.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  chooseAndReview,
  fieldValues,
  openAction,
  openForOrder,
  startOrdering,
} from './launches.ts';
import {
  author,
  filledIn,
  problemsOf,
  record,
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

describe('the page for recording samples', () => {
  it.each(recordingActions)(
    'shows, for %s, the samples in order of draw, with answers and details for the collection',
    async (action) => {
      const ordering = await chooseAndReview(application, [...threeSamples, 'CINR']);
      const [version = ''] = fieldValues(await ordering.page('review'), 'version');
      const submitted = await ordering.post('review', [
        ['version', version],
        ['details', 'Left arm only <please>'],
        ['priority', 'urgent'],
        ['answer:anticoagulant', 'Warfarin'],
        ['action', 'submit'],
      ]);
      const guid = submitted.headers.get('location')?.split('/').at(-1) ?? '';
      const launch = await openAction(application, action, { guid, context: ordering.context });
      const html = await launch.page(samplesPage(launch));
      expect([...html.matchAll(/<\/span>(\d\. [^<]*)<\/h2>/g)].map(([, text]) => text)).toEqual([
        '1. Citrate blood (blue top)',
        '2. Serum (gold top)',
        '3. EDTA blood (purple top)',
        '4. Urine, midstream, boric acid (red top)',
      ]);
      const { batches } = await stored(application, { guid });
      for (const text of [
        'Urea and electrolytes',
        'North Coast Pathology',
        'app-tube--purple',
        'Urgent',
        'Which anticoagulant does the patient take?',
        'Warfarin',
        'Left arm only &lt;please&gt;',
        '4 samples are still to be collected',
        'you cannot change it',
        'WHITFIELD, Margaret Anne (Mrs)',
        ...batches.map(({ orderReference }) => orderReference),
      ]) {
        expect(html).toContain(text);
      }
      expect(html.includes(`href="${launch.home}requests"`)).toBe(action !== 'PatientSampleQueue');
    },
  );

  it('contains the author of the launch and the current time, and no ticked sample', async () => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const fields = filledIn(await launch.page(samplesPage(launch)));
    expect(Object.fromEntries(fields)).toMatchObject({
      by: author,
      day: '2',
      month: '3',
      year: '2026',
      time: '09:30',
      'by:S1': '',
      'time:S1': '',
      'quantity:S1': '1',
    });
    expect([...fields.keys()].filter((name) => name.startsWith('taken:'))).toEqual([]);
  });

  it('names the laboratory of each tube if two laboratories need the same tube', async () => {
    const launch = await openForOrder(application, 'PatientSampleQueue', ['BUE', 'VHIV']);
    expect(await launch.page(samplesPage(launch))).toContain(
      'Not recorded yet: Serum (gold top) for North Coast Pathology, Serum (gold top) for Westcliff Microbiology.',
    );
  });

  it('omits tests without a sample, and samples whose tests were all removed', async () => {
    const order = await anOrder(application, ['BUE', 'HFBC', 'XCXR']);
    const database = await openOrderingDatabase(application.storage);
    const { batches } = await stored(application, order);
    const without = batches.map((batch) => ({
      ...batch,
      tests: batch.tests.map((test) =>
        test.code.value === 'BUE' ? { ...test, status: 'D' as const } : test,
      ),
    }));
    await database
      .updateTable('test_requests')
      .set({ batches: jsonb(without) })
      .where('guid', '=', order.guid)
      .execute();
    const launch = await openAction(application, 'PatientSampleQueue', order);
    const html = await launch.page(samplesPage(launch));
    expect([...html.matchAll(/name="taken:([^"]*)"/g)].map(([, id]) => id)).toEqual(['S2']);
    expect((await record(launch, taken('S1'))).status).toBe(400);
    expect((await record(launch, taken('S2'))).status).toBe(303);
    expect((await stored(application, order)).status).toBe('Complete');
  });
});

describe('an invalid value in the form of the samples', () => {
  it('is shown with an error and a link to its field, and stays in the form', async () => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const response = await record(launch, {
      ...taken('S1', 'S2', 'S3'),
      by: '<b>Nurse</b>',
      time: '25:00',
      'by:S2': 'x'.repeat(101),
      'day:S3': '29',
      'month:S3': '2',
      'year:S3': '2026',
      'quantity:S3': '21',
    });
    expect(response.status).toBe(400);
    const html = await response.text();
    expect(html).toContain('<title>Error: Record samples');
    expect(problemsOf(html)).toEqual([
      '#time The time must be a real time, like 9:05 or 14:30',
      '#by-S2 EDTA blood (purple top): Who collected the sample must be 100 characters or fewer',
      '#quantity-S3 Urine, midstream, boric acid (red top): The quantity must be a number from 1 to 20',
      '#day-S3 Urine, midstream, boric acid (red top): The date must be a real date',
    ]);
    expect(html).toContain('value="&lt;b&gt;Nurse&lt;/b&gt;"');
    expect(html).toMatch(/name="time:S1"[^>]* value=""/);
    expect(html).toMatch(/name="day:S3"[^>]* value="29"/);
    expect(html).toMatch(/name="taken:S3"[^>]* checked/);
    expect((await stored(application, launch)).version).toBe(1);
    expect(
      (
        await record(
          launch,
          { by: 'Nurse', time: '9:05', 'by:S2': '', 'day:S3': '28', 'quantity:S3': '1' },
          html,
        )
      ).status,
    ).toBe(303);
  });

  it.each([
    ['in the future', { time: '09:32' }, '#time The time must be now or in the past'],
    ['tomorrow', { day: '3' }, '#day The date must be today or in the past'],
    [
      '61 days ago',
      { day: '31', month: '12', year: '2025' },
      '#day The date must be within the last 60 days',
    ],
    ['by nobody', { by: ' ' }, '#by Enter who collected the sample'],
  ])('is answered 400 with an error: collected %s', async (_case, changes, problem) => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const response = await record(launch, { ...taken('S1', 'S2'), ...changes });
    expect([response.status, problemsOf(await response.text())]).toEqual([400, [problem]]);
    expect((await stored(application, launch)).version).toBe(1);
  });
});

describe('the result page after samples were recorded', () => {
  it('lists the samples still to be collected, with links to the page for recording them and to the list', async () => {
    const launch = await openForOrder(application, 'PatientRequestList', threeSamples);
    const response = await record(launch, taken('S1'));
    const html = await launch.page(response.headers.get('location') ?? '');
    for (const text of [
      'Samples recorded',
      '2 samples still to be collected',
      `href="${launch.home}requests/${launch.guid}/samples"`,
      `href="${launch.home}requests"`,
      `src="/orders/${launch.guid}/notepad?version=2"`,
    ]) {
      expect(html).toContain(text);
    }
    expect([...html.matchAll(/<strong>([^<]*top\))<\/strong>/g)].map(([, text]) => text)).toEqual([
      'EDTA blood (purple top)',
      'Urine, midstream, boric acid (red top)',
    ]);
  });

  it('shows “Submitted to the laboratory” after the last sample', async () => {
    const launch = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const response = await record(launch, taken('S1', 'S2', 'S3'));
    const html = await launch.page(response.headers.get('location') ?? '');
    expect(html).toContain('Submitted to the laboratory');
    expect(html).not.toContain('/samples"');
    expect(html).not.toContain(`href="${launch.home}requests"`);
  });

  it('links to the other requests that the launch changed, with the names of their patients', async () => {
    const context = aLaunchContext();
    const other = {
      ...context.request.patient,
      name: { family: 'Pickering', given: ['George'] },
      identifiers: [{ system: 'nhs-number' as const, value: '9434765870' }],
    };
    const orders = [
      await anOrder(application, threeSamples, context),
      await anOrder(application, ['HFBC'], aLaunchContext({ request: { patient: other } })),
    ];
    const [first, second] = orders;
    if (first === undefined || second === undefined) throw new Error('Two orders were expected');
    const launch = await openAction(application, 'LocationSampleQueue', first);
    await record(launch, taken('S1'));
    await record({ ...launch, guid: second.guid }, taken('S1'));
    const html = await launch.page(`orders/${first.guid}`);
    expect(html).toMatch(
      new RegExp(`href="${launch.home}orders/${second.guid}"><bdi>PICKERING, George</bdi>, NCP-\\d+</a>`),
    );
    expect(html).not.toContain(`href="${launch.home}orders/${first.guid}"`);
  });
});
