import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openChange, stored, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  openAction,
  press,
  startOrdering,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const captionIn = (html: string) => /nhsuk-caption-m app-caption">([^<]*)</.exec(html)?.[1];
const referenceOf = (html: string) => /<strong class="app-nowrap">(NCP-\d+)</.exec(html)?.[1] ?? 'none';

const order = () => anOrder(application, ['HFBC'], aLaunchContext({ request: { patient: aPatient() } }));

describe('the caption of a page', () => {
  it('shows “New request, not submitted” while the user chooses and reviews tests', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { tick: ['HFBC'] });
    for (const path of ['', 'review']) {
      expect(captionIn(await launch.page(path))).toBe('New request, not submitted');
    }
  });

  it('shows the reference, time and state of a request on its pages, and the reference in their titles', async () => {
    const ordered = await order();
    const orderer = await openAction(application, 'PatientReport', ordered);
    const form = await orderer.page(`requests/${ordered.guid}/form`);
    const reference = /NCP-\d+/.exec(form)?.[0] ?? 'none';
    const caption = `${reference} · requested today at 09:30 · waiting for samples`;
    const change = await openChange(application, ordered);
    const samples = await openAction(application, 'PatientSampleQueue', ordered);
    const { guid } = ordered;
    const pages = [
      form,
      await orderer.page(`requests/${guid}`),
      await orderer.page(`requests/${guid}/labels`),
      await samples.page(`requests/${guid}/samples`),
      await change.page(change.at),
      await change.page(`${change.at}review`),
    ];
    expect(pages.map(captionIn)).toEqual(pages.map(() => caption));
    for (const html of pages) expect(/<title>[^<]*/.exec(html)?.[0]).toContain(` – ${reference} – `);
  });

  it.each([
    [1, 'yesterday at 09:30'],
    [2, 'on 2 March 2026 at 09:30'],
  ])('shows the time of a request that was made %i days ago: requested %s', async (days, said) => {
    const app = await startOrdering();
    try {
      const ordered = await anOrder(app, ['HFBC']);
      app.clock.advance({ seconds: days * 86_400 });
      const html = await (await openAction(app, 'PatientReport', ordered)).page(`requests/${ordered.guid}`);
      expect(captionIn(html)).toContain(` · requested ${said} · `);
    } finally {
      await app.stop();
    }
  });

  it('does not name the reference of a batch whose tests have all been removed', async () => {
    const context = aLaunchContext({ request: { patient: aPatient() } });
    const ordered = await anOrder(application, ['HFBC', 'XCXR'], context);
    const change = await openChange(application, ordered);
    await press(change, 'remove:XCXR', { at: change.at });
    await submitChange(change);
    const { batches } = await stored(application, ordered.guid);
    const [reference = '', removed = ''] = batches.map(({ orderReference }) => orderReference);
    const reader = await openAction(application, 'PatientReport', ordered);
    for (const paper of ['form', 'labels']) {
      const html = await reader.page(`requests/${ordered.guid}/${paper}`);
      expect(captionIn(html)).toMatch(new RegExp(`^${reference} · `));
      expect(/<title>[^<]*/.exec(html)?.[0]).not.toContain(removed);
      expect(html).not.toContain(removed);
    }
  });

  it('is part of the confirmation after a submission', async () => {
    const launch = await application.openLaunch(aLaunchContext({ request: { patient: aPatient() } }));
    await press(launch, 'review', { tick: ['HFBC'] });
    const review = await launch.page('review');
    const [, version = ''] = /name="version" value="([^"]*)"/.exec(review) ?? [];
    const { headers } = await launch.post('review', [
      ['version', version],
      ['action', 'submit'],
    ]);
    const html = await launch.page(`orders/${headers.get('location')?.split('/').at(-1)}`);
    expect(referenceOf(html)).toMatch(/^NCP-\d{6}$/);
    expect(html).toContain('1 sample still to be collected · requested today at 09:30');
  });

  it('is absent from a list of requests', async () => {
    const list = await openAction(application, 'PatientReportList', await order());
    const html = await list.page('requests');
    expect(html).toContain('nhsuk-table');
    expect(captionIn(html)).toBeUndefined();
    // The rows of a patient's list also omit the patient.
    expect(html).not.toContain('For <bdi>');
  });
});
