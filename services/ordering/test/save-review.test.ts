import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anOrderToChange, openChange, stored, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  type OpenLaunch,
  press,
  rowsOf,
  startOrdering,
  submit,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const anOrderInReview = () =>
  chooseAndReview(application, ['HFBC'], aLaunchContext({ request: { patient: aPatient() } }));

/** Opens the review of a launch. Returns a function that saves typed text as the script of the page does. */
async function openReview(launch: OpenLaunch, at = '') {
  const html = await launch.page(`${at}review`);
  const [, page = '', edits = ''] = /data-page="([^"]*)" data-edits="([^"]*)"/.exec(html) ?? [];
  const [, draftId = ''] = /name="submission" value="([^"]*)"/.exec(html) ?? [];
  return (sequence: number, details: string) =>
    launch.post(`${at}review/draft`, [
      ['launch', launch.launchId],
      ['submission', draftId],
      ['page', page],
      ['edits', edits],
      ['sequence', String(sequence)],
      ['details', details],
    ]);
}

const typedIn = async (launch: OpenLaunch, at = '') =>
  /<textarea[^>]*>([^<]*)</.exec(await launch.page(`${at}review`))?.[1];

describe('text that the script of the review saves', () => {
  it('is stored, and shown when the review is opened again', async () => {
    const launch = await anOrderInReview();
    const save = await openReview(launch);
    expect((await save(1, 'Tired')).status).toBe(204);
    expect((await save(2, 'Tired for a month')).status).toBe(204);
    expect(await typedIn(launch)).toBe('Tired for a month');
  });

  it('is not replaced if an earlier save of the same page arrives after it', async () => {
    const launch = await anOrderInReview();
    const save = await openReview(launch);
    await save(2, 'Tired for a month');
    expect((await save(1, 'Tired')).status).toBe(204);
    expect((await save(2, 'Repeated')).status).toBe(204);
    expect(await typedIn(launch)).toBe('Tired for a month');
  });

  it('is not replaced by a save from an outdated page, which is answered 409', async () => {
    const launch = await anOrderInReview();
    const [one, other] = [await openReview(launch), await openReview(launch)];
    expect((await one(1, 'First window')).status).toBe(204);
    expect((await other(1, 'Second window')).status).toBe(409);
    expect((await one(2, 'First window again')).status).toBe(204);
    expect(await typedIn(launch)).toBe('First window again');
    const third = await openReview(launch);
    expect((await third(1, 'Third window')).status).toBe(204);
    expect((await one(3, 'Too late')).status).toBe(409);
    expect(await typedIn(launch)).toBe('Third window');
  });

  it('does not replace the text that another window submitted', async () => {
    const launch = await anOrderInReview();
    const save = await openReview(launch);
    await launch.post('review', [
      ['details', 'By a button'],
      ['action', 'back'],
    ]);
    expect((await save(1, 'Too late')).status).toBe(409);
    expect(await typedIn(launch)).toBe('By a button');
  });

  it('does not change an order that was already submitted', async () => {
    const launch = await anOrderInReview();
    const save = await openReview(launch);
    await save(1, 'Tired');
    await submit(launch, 'Tired for a month');
    expect((await save(2, 'Too late')).status).toBe(303);
    const [row] = await rowsOf(application, launch);
    expect(row?.clinical_details).toBe('Tired for a month');
  });

  it('is stored neither in a change that was already submitted, nor in the next change', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const changer = await openChange(application, ordered);
    await press(changer, 'review', { at: changer.at, tick: ['BUE'] });
    const save = await openReview(changer, changer.at);
    expect((await save(1, 'Tired')).status).toBe(204);
    await submitChange(changer, [['details', 'Tired for a month']]);
    expect((await save(2, 'Too late')).status).toBe(409);
    expect((await stored(application, ordered.guid)).clinicalDetails).toBe('Tired for a month');
    expect(await typedIn(changer, changer.at)).toBe('Tired for a month');
  });

  it('is stored without changing the tests that another window chose', async () => {
    const launch = await anOrderInReview();
    const save = await openReview(launch);
    await press(launch, 'update', { tick: ['BUE'] });
    expect((await save(1, 'Tired')).status).toBe(204);
    const html = await launch.page('review');
    expect(html).toContain('Urea and electrolytes');
    expect(html).toMatch(/<textarea[^>]*>Tired</);
  });

  it.each([
    ['no page', { page: '' }],
    ['a page that is not a GUID', { page: 'x' }],
    ['no sequence', { sequence: '' }],
    ['edits that are not a number', { edits: '-1' }],
  ])('is not stored, and is answered 400, if the request has %s', async (_case, fault) => {
    const launch = await anOrderInReview();
    const fields = { page: randomUUID(), sequence: '1', edits: '0', details: 'Tired', ...fault };
    expect((await launch.post('review/draft', Object.entries(fields))).status).toBe(400);
    expect(await typedIn(launch)).toBe('');
  });
});
