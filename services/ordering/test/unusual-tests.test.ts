import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { linesOf, openChange, stored } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  aYoungPatient,
  chipsIn,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  press,
  rowsOf,
  shownIn,
  startOrdering,
  tickedIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const aMan = () => aPatient({ gender: 'male' });
const open = (patient = aMan()) => application.openLaunch(aLaunchContext({ request: { patient } }));

type Matches = { codes: string[]; notes: { name: string; text: string }[] };

const matches = async (launch: OpenLaunch, q: string) =>
  (await (await launch.post('matches', [['q', q]])).json()) as Matches;
const found = async (launch: OpenLaunch, q: string) => (await matches(launch, q)).codes;

async function submitWith(launch: OpenLaunch, fields: [string, string][]) {
  const [version = ''] = fieldValues(await launch.page('review'), 'version');
  const response = await launch.post('review', [['version', version], ...fields, ['action', 'submit']]);
  return response.headers.get('location') ?? '';
}

describe('a test that does not apply to the patient', () => {
  it('is not offered, and an order set that does not apply is not offered either', async () => {
    const html = await (await open()).page();
    expect(shownIn(html)).toContain('MPSA');
    expect(shownIn(html)).not.toContain('VHVS');
    expect(html).not.toContain('add-set:antenatal-booking');
    expect(html).toContain('add-set:pre-op');
  });

  it('is not offered to a child of 2 whose gender is not known if it is for adults, and no chip or set contains it', async () => {
    const html = await (await open(aPatient({ gender: 'unknown', birthDate: '2024-01-15' }))).page();
    const sets = [...html.matchAll(/value="add-set:([^"]*)"/g)].map(([, id]) => id);
    expect(sets).toEqual(['pre-op', 'dmard']);
    expect(chipsIn(html, 'most-requested')).toEqual(
      expect.not.arrayContaining(['MPSA', 'KFIT', 'VCTNG', 'DEXA']),
    );
    for (const code of ['MPSA', 'MCA125', 'KFIT', 'VCTNU', 'DEXA', 'UAAA']) {
      expect(shownIn(html)).not.toContain(code);
    }
    expect(shownIn(html)).toEqual(expect.arrayContaining(['HFBC', 'UTES', 'XCXR']));
  });

  it('is found only by its complete name', async () => {
    const launch = await open();
    expect(await found(launch, 'vaginal')).toEqual([]);
    expect(await found(launch, 'HVS')).toEqual(['VHVS']);
    await press(launch, 'search', { q: 'hvs' });
    const html = await launch.page();
    expect(shownIn(html)).toEqual(['VHVS']);
    expect(html).toContain('Usually for female patients');
  });

  it('is explained if a search finds no other test, with and without scripts', async () => {
    const woman = await open(aYoungPatient());
    expect(await matches(woman, 'semen')).toEqual({
      codes: [],
      notes: ['fertility', 'after vasectomy'].map((kind) => ({
        name: expect.stringContaining(kind),
        text: expect.stringMatching(
          /^is usually for male patients aged \d+ to 80\. This patient is recorded as female aged 30\. To request it all the same, search for its whole name\.$/,
        ),
      })),
    });
    await press(woman, 'search', { q: 'semen' });
    const html = await woman.page();
    expect(html).toContain('No tests to choose for “semen”.');
    expect(html).toContain('<strong>Semen analysis, fertility</strong> is usually for male patients');
    expect((await matches(woman, 'swab')).notes).toEqual([]);
  });

  it('asks a man no question about pregnancy or the last menstrual period', async () => {
    const man = await chooseAndReview(
      application,
      ['ETFT', 'EFSH'],
      aLaunchContext({ request: { patient: aMan() } }),
    );
    expect(await man.page('review')).not.toMatch(/pregnant|menstrual/);
  });

  it('is not added with an order set of the practice, and a message names the test', async () => {
    const woman = await open(aYoungPatient());
    await press(woman, 'update', { tick: ['HFBC', 'VHVS'] });
    await press(woman, 'save-set');
    await woman.post('', [
      ['action', 'save-set'],
      ['set-name', 'Ours'],
    ]);
    const launch = await open();
    const [, id = ''] = /add-set:([0-9a-f-]{36})/.exec(await launch.page()) ?? [];
    await press(launch, `add-set:${id}`);
    const html = await launch.page();
    expect(tickedIn(html)).toEqual(['HFBC']);
    expect(html).toContain(
      'Not added, because it does not apply to this patient: High vaginal swab culture.',
    );
  });
});

describe('a test that cannot be requested here', () => {
  it('is explained if a search finds the test, and Enter does not add it, with and without scripts', async () => {
    const launch = await open();
    const text =
      'is not requested here. If you suspect a pulmonary embolism, send the patient to hospital today.';
    expect(await matches(launch, 'ctpa')).toEqual({
      codes: [],
      notes: [{ name: 'CT pulmonary angiogram', text }],
    });
    await press(launch, 'search', { q: 'ctpa' });
    const html = await launch.page();
    expect(html).toContain(`<strong>CT pulmonary angiogram</strong> ${text}`);
    expect([shownIn(html), tickedIn(html)]).toEqual([[], []]);
    expect(html).not.toMatch(/Press Enter to add/);
  });
});

describe('a test that the user requests although it does not apply to the patient', () => {
  it('causes a warning and needs a reason, which the request, its form and its page contain', async () => {
    const context = aLaunchContext({ request: { patient: aMan() } });
    const launch = await chooseAndReview(application, ['HFBC', 'VHVS'], context);
    const warning =
      'High vaginal swab culture is usually for female patients aged 12 or over. This patient is recorded as male aged 68.';
    expect(await launch.page()).toContain(warning);
    expect(await launch.page('review')).toContain(warning);
    expect(await submitWith(launch, [])).toContain('review?check');
    expect(await launch.page('review?check')).toContain(
      'Give a reason for requesting High vaginal swab culture, or remove it',
    );
    expect(await submitWith(launch, [['override:VHVS', 'x'.repeat(201)]])).toContain('review?check');
    expect(await launch.page('review?check')).toContain('must be 200 characters or fewer');
    expect(await rowsOf(application, launch)).toEqual([]);

    const result = await submitWith(launch, [['override:VHVS', ' Trans  man ']]);
    const guid = result.split('/').at(-1) ?? '';
    const request = await stored(application, guid);
    expect(request.batches.flatMap(({ tests }) => tests.map(({ overrideReason }) => overrideReason))).toEqual(
      [undefined, 'Trans man'],
    );
    expect(await launch.page(`requests/${guid}/form`)).toContain('Requested because: <bdi>Trans man</bdi>');
    expect(await launch.page(`requests/${guid}`)).toContain('Requested because: <bdi>Trans man</bdi>');
    expect(linesOf(request)).toHaveLength(2);
  });

  it('needs no second reason when the request is changed', async () => {
    const context = aLaunchContext({ request: { patient: aMan() } });
    const launch = await chooseAndReview(application, ['HFBC', 'VHVS'], context);
    const guid = (await submitWith(launch, [['override:VHVS', 'Trans man']])).split('/').at(-1) ?? '';
    const change = await openChange(application, { guid, context });
    await press(change, 'review', { at: change.at, tick: ['BUE'] });
    const html = await change.page(`${change.at}review`);
    expect(html).not.toContain('Check that these tests are right for this patient');
  });

  it.each(['other', 'unknown'] as const)(
    'needs no reason for a patient of gender %s, to whom every test is offered',
    async (gender) => {
      const html = await (await open(aYoungPatient(gender))).page();
      expect(shownIn(html)).toEqual([...application.catalogue.orderables.keys()]);
      const launch = await chooseAndReview(
        application,
        ['MPSA', 'VHVS'],
        aLaunchContext({ request: { patient: aYoungPatient(gender) } }),
      );
      expect(await submitWith(launch, [])).toContain('/orders/');
    },
  );
});
