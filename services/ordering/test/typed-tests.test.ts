import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  aYoungPatient,
  press,
  shownIn,
  startOrdering,
  tickedIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
const searchIn = (html: string) => /name="q"[^>]* value="([^"]*)"/.exec(html)?.[1];

async function review(
  launch: Awaited<ReturnType<Application['openLaunch']>>,
  q: string,
  tick: string[] = [],
) {
  const { status, headers } = await press(launch, 'review', { q, tick });
  expect(status).toBe(303);
  return headers.get('location')?.slice(launch.home.length);
}

describe('the button Review, with text in the search box,', () => {
  it('adds exactly the tests that the text names, says so, and can undo this', async () => {
    const launch = await application.openLaunch();
    expect(await review(launch, 'crp and ferritin', ['HFBC'])).toBe('review');
    const html = await launch.page('review');
    expect(textOf(html)).toContain('Added from the search box: C-reactive protein and Ferritin. Undo');
    expect(tickedIn(await launch.page())).toEqual(['HFBC', 'HFER', 'BCRP']);
    expect(searchIn(await launch.page()) ?? '').toBe('');
    const [, undo = ''] = /value="(remove:[^"]*,[^"]*)"/.exec(html) ?? [];
    await launch.post('review', [['action', undo]]);
    expect(textOf(await launch.page('review'))).not.toContain('search box');
    expect(tickedIn(await launch.page())).toEqual(['HFBC']);
  });

  it('asks for the reason for a test that does not apply to the patient', async () => {
    const launch = await application.openLaunch(
      aLaunchContext({ request: { patient: aYoungPatient('male') } }),
    );
    await review(launch, 'ca125');
    expect(await launch.page('review')).toContain('Reason for requesting CA 125');
  });

  it.each([
    ['names only tests that are chosen', 'fbc', ['HFBC']],
    ['names a test that a chosen panel contains', 'ferritin', ['HHAEM']],
    ['found a test that was then ticked', 'thyroid', ['ETFT']],
  ])('drops text that %s', async (_what, text, tick) => {
    const launch = await application.openLaunch();
    await press(launch, 'search', { q: text });
    await press(launch, 'update', { q: text, tick });
    expect(await review(launch, text)).toBe('review');
    expect(textOf(await launch.page('review'))).not.toMatch(/search box|Not added/);
    expect(tickedIn(await launch.page())).toEqual(tick);
  });

  it.each([
    ['a name with a spelling mistake', 'crpp', '“crpp”'],
    ['a test and another word', 'msu knee', '“knee”'],
    ['the name of an order set', 'antenatal booking', '“antenatal booking”'],
    ['text that was typed after a test was ticked', 'thyroid antibody', '“thyroid antibody”'],
  ])('stays once for %s, and says the second time that it was not added', async (_what, text, part) => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { q: 'thyroid', tick: ['ETFT'] });
    expect(await review(launch, text)).toBe('');
    const html = await launch.page();
    expect(textOf(html)).toContain(`“${text}” was not added, because no single test is called ${part}.`);
    expect(searchIn(html)).toBe(text);
    expect(await review(launch, text)).toBe('review');
    expect(textOf(await launch.page('review'))).toContain(`Not added: ${text}.`);
    expect(tickedIn(await launch.page())).toEqual(['ETFT']);
  });

  it('stays again for other text', async () => {
    const launch = await application.openLaunch();
    expect(await review(launch, 'crpp', ['HFBC'])).toBe('');
    expect(await review(launch, 'fbcc')).toBe('');
    expect(await review(launch, '')).toBe('review');
  });
});

describe('the search for tests', () => {
  const setsIn = (html: string) =>
    [...html.matchAll(/<li class="app-set" data-set="([^"]*)"( hidden)?>/g)].flatMap(
      ([, name = '', hidden]) => (hidden === undefined ? [name] : []),
    );

  it.each([
    ['tired', 'Tired all the time'],
    ['annual review', 'Diabetes annual review'],
    ['pre-op', 'Pre-operative assessment'],
    ['health check', 'NHS Health Check'],
    ['dementia', 'Dementia screen'],
  ])('finds order sets by the words of their names: %s', async (q, name) => {
    const launch = await application.openLaunch();
    await press(launch, 'search', { q });
    const html = await launch.page();
    expect(setsIn(html)).toEqual([name]);
    expect(textOf(html)).toMatch(/1 order set matches/);
    await press(launch, 'clear-search');
    expect(setsIn(await launch.page()).length).toBeGreaterThan(5);
  });

  it('shows a test whose whole name a set of the practice has, and Review adds this test only', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { tick: ['BUE', 'BLFT'] });
    await launch.post('', [
      ['set-name', 'FBC'],
      ['action', 'save-set'],
    ]);
    await press(launch, 'search', { q: 'fbc' });
    expect([shownIn(await launch.page())[0], setsIn(await launch.page())]).toEqual(['HFBC', ['FBC']]);
    await press(launch, 'clear');
    expect(await review(launch, 'fbc')).toBe('review');
    expect(tickedIn(await launch.page())).toEqual(['HFBC']);
  });

  it('offers the known part of a search first, and names the unknown part', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'search', { q: 'msu knee' });
    const html = await launch.page();
    expect(shownIn(html)[0]).toBe('KMSU');
    expect(html).toContain('No single test is called “knee”.');
  });
});
