import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Application,
  aLaunchContext,
  aPatient,
  fetchWhole,
  fieldValues,
  offeredCodes,
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

describe('the page of tests', () => {
  /** An old woman, a young man and a child whose gender is not known; each has tests that do not apply. */
  const patients = [
    {},
    { gender: 'male', birthDate: '1996-01-15' },
    { gender: 'unknown', birthDate: '2024-01-15' },
  ] as const;
  const openFor = (at: number) =>
    application.openLaunch(aLaunchContext({ request: { patient: aPatient(patients[at]) } }));

  it.each([0, 1, 2])('has at most 120,000 bytes, also with ten chosen tests (patient %i)', async (at) => {
    const launch = await openFor(at);
    const tick = [...application.catalogue.orderables.keys()].slice(20, 30);
    for (const each of [[], tick]) {
      await press(launch, 'update', { tick: each });
      expect(Buffer.byteLength(await launch.page())).toBeLessThanOrEqual(120_000);
    }
  });

  it('has one box for each test, and each chosen test stays chosen, whatever is searched and for whom', async () => {
    const { orderables } = application.catalogue;
    const codes = [...orderables.keys()];
    const queries = fc.constantFrom('', 'fbc', 'thyroid', 'hvs psa', 'pelvis', 'nothing like it');
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: patients.length - 1 }),
        fc.subarray(codes, { maxLength: 12 }),
        fc.array(queries, { minLength: 1, maxLength: 3 }),
        async (at, tick, searches) => {
          const launch = await openFor(at);
          const parts = tick.flatMap((code) => orderables.get(code)?.covers ?? []);
          const chosen = tick.filter((code) => !parts.includes(code));
          await press(launch, 'update', { tick });
          for (const q of ['', ...searches]) {
            await press(launch, 'search', { q });
            const html = await launch.page();
            const values = [...html.matchAll(/name="test" type="checkbox" value="([^"]*)"/g)];
            expect(values.map(([, code = '']) => code).toSorted()).toEqual(codes.toSorted());
            expect(tickedIn(html).toSorted()).toEqual(chosen.toSorted());
            const ids = [...html.matchAll(/ id="?([^ ">]+)/g)].map(([, id]) => id);
            expect(new Set(ids).size).toBe(ids.length);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('the page for choosing tests, without JavaScript,', () => {
  it('shows the whole catalogue with specimens and locations, and no test is chosen', async () => {
    const launch = await application.openLaunch();
    const html = await launch.page();
    expect(shownIn(html)).toEqual(offeredCodes(application.catalogue));
    expect(tickedIn(html)).toEqual([]);
    expect(html).toContain('EDTA blood, purple top · North Coast Pathology');
    expect(html).toContain('No sample · Seaview Imaging Centre');
    expect(html).toContain('Nothing chosen yet');
  });

  it('keeps the ticked tests during two searches and after the search is cleared', async () => {
    const launch = await application.openLaunch();
    const searched = await press(launch, 'search', { tick: ['HFBC', 'XCXR'], q: 'thyroid' });
    expect([searched.status, searched.headers.get('location')]).toEqual([303, `${launch.home}#search`]);
    const found = await launch.page();
    expect(shownIn(found)).toEqual(['ETFT', 'ETPO', 'UTHY']);
    expect(found).toContain(`3 of ${offeredCodes(application.catalogue).length} tests match “thyroid”.`);
    expect(tickedIn(found)).toEqual(['HFBC', 'XCXR']);

    await press(launch, 'search', { tick: ['ETFT'], q: 'nothing like it' });
    expect(shownIn(await launch.page())).toEqual([]);
    expect(await launch.page()).toContain('No tests match “nothing like it”');

    await press(launch, 'clear-search');
    const cleared = await launch.page();
    expect(shownIn(cleared)).toEqual(offeredCodes(application.catalogue));
    expect(tickedIn(cleared)).toEqual(['HFBC', 'ETFT', 'XCXR']);
  });

  it('removes a test when its box is unticked or its Remove button is pressed', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { tick: ['HFBC', 'BUE', 'KMSU'] });
    await press(launch, 'update', { untick: ['HFBC'] });
    expect(tickedIn(await launch.page())).toEqual(['BUE', 'KMSU']);
    const removed = await press(launch, 'remove:BUE');
    expect(removed.headers.get('location')).toBe(`${launch.home}#chosen`);
    expect(tickedIn(await launch.page())).toEqual(['KMSU']);
  });

  it('adds the tests of an order set to the chosen tests, without duplicates', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'add-set:diabetes-annual', { tick: ['BUE', 'XCXR'] });
    const html = await launch.page();
    expect(tickedIn(html)).toEqual(['BUE', 'BLFT', 'BLIP', 'DHBA1C', 'DACR', 'XCXR']);
    expect(html).toContain('Diabetes annual review: HbA1c, Urea and electrolytes');
    await press(launch, 'update');
    expect(await launch.page()).not.toContain('Order set added');
  });

  it('lists the chosen tests by laboratory, and each sample once, in the order of draw', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', {
      tick: ['DGLUF', 'HFBC', 'DHBA1C', 'BUE', 'CINR', 'KMSU', 'VHIV', 'XCXR'],
    });
    const panel = /id="chosen-title"[^]*?<\/section>/.exec(await launch.page())?.[0] ?? '';
    expect([...panel.matchAll(/<h3[^>]*>([^<]*)/g)].map(([, text]) => text)).toEqual([
      'North Coast Pathology',
      'Westcliff Microbiology',
      'Seaview Imaging Centre',
      'Samples needed, in order of draw',
    ]);
    const draws = panel.matchAll(/<strong>([^<]*)<\/strong>\s*<span class="app-draw__detail">([^<]*)/g);
    expect([...draws].map(([, tube, detail]) => `${tube}: ${detail}`)).toEqual([
      'Citrate blood, blue top: 1 test · North Coast Pathology',
      'Serum, gold top: 1 test · North Coast Pathology',
      'Serum, gold top: 1 test · Westcliff Microbiology',
      'EDTA blood, purple top: 2 tests · North Coast Pathology',
      'Fluoride blood, grey top: 1 test · North Coast Pathology',
      'Urine, midstream, boric acid, red top: 1 test · Westcliff Microbiology',
    ]);
  });

  it('keeps the tests that were chosen in another window of the launch', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { tick: ['HFBC', 'BUE'] });
    const stale = await launch.page();
    await press(launch, 'update', { tick: ['BCRP'], untick: ['BUE'] });
    await launch.post('', [
      ...fieldValues(stale, 'was').map((code) => ['was', code] as const),
      ...['HFBC', 'BUE', 'XCXR'].map((code) => ['test', code] as const),
      ['action', 'update'],
    ]);
    expect(tickedIn(await launch.page())).toEqual(['HFBC', 'BCRP', 'XCXR']);
  });

  it('stores every one of several simultaneous changes', async () => {
    const launch = await application.openLaunch();
    const codes = ['HFBC', 'BUE', 'BCRP', 'ETFT', 'XCXR'];
    await Promise.all(
      codes.map((code) =>
        launch.post('', [
          ['test', code],
          ['action', 'update'],
        ]),
      ),
    );
    expect(new Set(tickedIn(await launch.page()))).toEqual(new Set(codes));
  });

  it('shows an error summary if the user requests the review with no test chosen', async () => {
    const launch = await application.openLaunch();
    expect((await press(launch, 'review')).headers.get('location')).toBe(`${launch.home}review`);
    const review = await launch.send('review');
    expect([review.status, review.headers.get('location')]).toEqual([303, `${launch.home}?nothing-chosen`]);
    const html = await launch.page('?nothing-chosen');
    expect(html).toContain('Choose at least one test to review');
    expect(html).toContain('<title>Error: Choose tests');
  });

  it('ignores a test code that the catalogue does not contain, and answers 400 to an unknown button', async () => {
    const launch = await application.openLaunch();
    await launch.post('', [
      ['test', 'HFBC'],
      ['test', '<script>'],
      ['test', 'NONE'],
      ['action', 'update'],
    ]);
    expect(tickedIn(await launch.page())).toEqual(['HFBC']);
    for (const action of ['order', 'add-set:none', 'remove:', 'submit', 'delete-set:', 'favourite:NONE']) {
      expect((await launch.post('', [['action', action]])).status).toBe(400);
    }
  });

  it('accepts search text with control characters and markup', async () => {
    const launch = await application.openLaunch();
    const q = `fbc\u0000\u0007 ${'x'.repeat(500)}"><script>`;
    const response = await launch.post('', [
      ['q', q],
      ['action', 'search'],
    ]);
    expect(response.status).toBe(303);
    const html = await launch.page();
    expect(html).not.toContain('"><script>');
    expect(html).toContain('No single test is called “xxx');
  });
});

describe('a panel', () => {
  const blocked = (html: string) => [...html.matchAll(/value="([^"]*)" disabled/g)].map(([, code]) => code);
  const takenOff = (html: string) => [...html.matchAll(/data-said>([^<]*)/g)].map(([, sentence]) => sentence);

  it('removes and disables the tests that the panel contains, and shows a message', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { tick: ['HFER', 'HFOL', 'HFBC'] });
    await press(launch, 'update', { tick: ['HHAEM'] });
    const html = await launch.page();
    expect(tickedIn(html)).toEqual(['HFBC', 'HHAEM']);
    expect(blocked(html)).toEqual(['HFER', 'HB12', 'HFOL']);
    expect(html.match(/Included in Haematinics profile/g)).toHaveLength(3);
    expect(takenOff(html)).toEqual(['Ferritin and Folate removed: already in Haematinics profile.']);
    await press(launch, 'update');
    expect(takenOff(await launch.page())).toEqual([]);
  });

  it('no longer disables its parts when the panel is removed, and leaves them unticked', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'update', { tick: ['HHAEM'] });
    await press(launch, 'remove:HHAEM');
    const html = await launch.page();
    expect([tickedIn(html), blocked(html)]).toEqual([[], []]);
    await press(launch, 'update', { tick: ['HFER'] });
    expect(tickedIn(await launch.page())).toEqual(['HFER']);
  });

  it('stays chosen, without its parts, when an order set with those parts is added', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'add-set:tired-all-the-time', { tick: ['BPROF'] });
    const html = await launch.page();
    expect(tickedIn(html)).toEqual([
      'HFBC',
      'HFER',
      'HB12',
      'HFOL',
      'BPROF',
      'BCRP',
      'DHBA1C',
      'ETFT',
      'ITTG',
    ]);
    expect(html).toContain(
      'Urea and electrolytes, Liver function tests and Bone profile removed: already in Biochemistry profile.',
    );
  });

  it.each(['', 'chosen'])(
    'is never chosen together with its parts, even if a form posted to the path "%s" contains both',
    async (path) => {
      const launch = await application.openLaunch();
      const codes = ['VHIV', 'VBBV', 'VHEPB', 'VHEPC', 'VHEPA'];
      await launch.post(
        path,
        codes.map((code) => ['test', code] as const),
      );
      expect(tickedIn(await launch.page())).toEqual(['VBBV', 'VHEPA']);
      await launch.post(path, [['test', 'VHIV']]);
      expect(tickedIn(await launch.page())).toEqual(['VBBV', 'VHEPA']);
    },
  );
});

it('the server shortens search text to 100 characters without splitting a surrogate pair', async () => {
  const launch = await application.openLaunch();
  const answer = await launch.post('', [
    ['q', `${'a'.repeat(99)}😀`],
    ['action', 'search'],
  ]);
  expect(answer.status).toBe(303);
  expect(await launch.page()).toContain(`value="${'a'.repeat(99)}"`);
});

describe('the page for choosing tests, with JavaScript,', () => {
  it('answers a change with only the HTML of the chosen tests', async () => {
    const launch = await application.openLaunch();
    const response = await launch.post('chosen', [
      ['test', 'HFBC'],
      ['action', 'add-set:pre-op'],
    ]);
    const panel = await response.text();
    expect(fieldValues(panel, 'was')).toEqual(['HFBC', 'CCLOT', 'CGRP', 'BUE', 'KMRSA']);
    expect(panel).not.toContain('<html');
    expect(tickedIn(await launch.page())).toEqual(fieldValues(panel, 'was'));
  });

  it('answers a search with the codes of the matching tests, and stores no search', async () => {
    const launch = await application.openLaunch();
    const response = await launch.post('matches', [['q', 'thyriod']]);
    expect(await response.json()).toEqual({ codes: ['ETFT', 'ETPO', 'UTHY'], notes: [] });
    expect(shownIn(await launch.page())).toHaveLength(offeredCodes(application.catalogue).length);
  });

  it('lists the matches in the order of the search, on a page that contains each test of the catalogue once', async () => {
    const launch = await application.openLaunch();
    await press(launch, 'search', { tick: ['BUE'], q: 'lft u&e' });
    const html = await launch.page();
    expect(shownIn(html)).toEqual(['BLFT', 'BUE', 'BPROF']);
    expect(tickedIn(html)).toEqual(['BUE']);
    expect(html.match(/ id=test-/g)).toHaveLength(application.catalogue.orderables.size);
  });

  it('has scripts and stylesheets that the service serves, and allows no scripts of another origin', async () => {
    const launch = await application.openLaunch();
    const page = await launch.send('');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'self' 'sha256-[^']+';/);
    const assets = [...(await page.text()).matchAll(/(?:src|href)="(\/oltr\/assets\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(assets).toContain('/oltr/assets/app.js');
    for (const path of [...assets, '/oltr/assets/nhsuk/nhsuk-frontend.js']) {
      const { status, headers } = await fetchWhole(application.url + path);
      expect([path, status, headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff']);
    }
  });

  it.each(['Page.css', 'page.css/', 'nhsuk/nhsuk-Frontend.css', 'App.js', 'app.js/'])(
    'has no script or stylesheet at the other spelling %s of its path',
    async (path) => {
      expect((await fetchWhole(`${application.url}/oltr/assets/${path}`)).status).toBe(404);
    },
  );
});
