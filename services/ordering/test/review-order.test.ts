import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseCatalogue } from '../src/domain/catalogue.ts';
import { createCatalogues } from '../src/domain/catalogues.ts';
import { openChange, stored } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  aYoungPatient,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  press,
  rowsOf,
  startOrdering,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
const others: Application[] = [];
afterAll(() => Promise.all([application, ...others].map((each) => each.stop())));

type Fields = [string, string][];

const review = (tick: string[], patient = aPatient()) =>
  chooseAndReview(application, tick, aLaunchContext({ request: { patient } }));

/** Opens a review in a service whose catalogue file has a changed text. */
async function reviewWith(tick: string[], change: (file: string) => string) {
  const file = readFileSync(new URL('../catalogue/catalogue.json', import.meta.url), 'utf8');
  const catalogue = parseCatalogue(JSON.parse(change(file)));
  const changed = await startOrdering(openTestStorage, createCatalogues([catalogue]));
  others.push(changed);
  return chooseAndReview(changed, tick, aLaunchContext({ request: { patient: aYoungPatient() } }));
}

/** Presses a button of the review, with these fields in the form. */
async function send(launch: OpenLaunch, fields: Fields, action = 'submit'): Promise<Response> {
  const [version = ''] = fieldValues(await launch.page('review'), 'version');
  return launch.post('review', [['version', version], ...fields, ['action', action]]);
}

const locationOf = (response: Response) => response.headers.get('location') ?? '';

/** Returns the links of the error summary, each as `#id message`. */
const faultsIn = (html: string) =>
  [
    ...(/nhsuk-error-summary__list[^]*?<\/ul>/.exec(html)?.[0] ?? '').matchAll(
      /href="(#[^"]*)">\s*([^<]*?)\s*</g,
    ),
  ].map(([, href, text]) => `${href} ${text}`);

describe('a question for a date', () => {
  const lmp = 'answer:last-menstrual-period';
  const asked = (html: string) => html.includes(`name="${lmp}" type="checkbox" value="Not known"`);

  it('is answered by “Not known”, which the form prints and a change keeps, and not by both', async () => {
    const launch = await review(['EPROG'], aYoungPatient());
    expect(asked(await launch.page('review'))).toBe(true);
    const unknown: Fields = [
      [`${lmp}-day`, ''],
      [`${lmp}-month`, ''],
      [`${lmp}-year`, ''],
      [lmp, 'Not known'],
    ];
    await send(launch, [[`${lmp}-day`, '9'], ...unknown.slice(1)]);
    const html = await launch.page('review?check');
    expect(faultsIn(html)).toEqual([
      '#answer-last-menstrual-period-day Enter a date for “First day of the last menstrual period” or select Not known, not both',
    ]);
    expect(html).toMatch(/period" type="checkbox" value="Not known" checked/);
    expect(html).toMatch(/period-day" type="text" value="9"/);
    const submitted = locationOf(await send(launch, unknown));
    const [row] = await rowsOf(application, launch);
    expect(row?.answers.map(({ answer }) => answer)).toEqual(['Not known']);
    const guid = submitted.split('/').at(-1) ?? '';
    const form = await launch.page(`requests/${guid}/form`);
    expect(form).toMatch(/last menstrual period<\/dt><dd[^>]*><bdi>Not known</);
    const change = await openChange(application, { guid, context: launch.context });
    await press(change, 'review', { at: change.at });
    expect(await change.page(`${change.at}review`)).toMatch(/checkbox" value="Not known" checked/);
    await change.post(`${change.at}review`, [...unknown, ['action', 'submit']]);
    expect((await stored(application, guid)).version).toBe(1);
  });

  it('has no “Not known” if the catalogue states that the date must be known', async () => {
    const launch = await reviewWith(['EPROG'], (file) =>
      file.replace('"id": "last-menstrual-period",', '$& "mustBeKnown": true,'),
    );
    expect(asked(await launch.page('review'))).toBe(false);
    expect(locationOf(await send(launch, [[lmp, 'Not known']]))).toContain('review?check');
  });
});

describe('the questions of the laboratory', () => {
  it('appear once each, with the names of the tests that ask them', async () => {
    const launch = await review(['CINR', 'CTHRO', 'BLIP', 'DGLUF', 'EPROG', 'TLI'], aYoungPatient());
    const html = await launch.page('review');
    expect(html).toContain('Asked for: INR, Thrombophilia screen');
    expect(html).toContain('Asked for: Lipid profile, FPG');
    expect(html.match(/name="answer:anticoagulant"/g)).toHaveLength(7);
    expect(html.match(/name="answer:last-menstrual-period-(day|month|year)"/g)).toHaveLength(3);
    expect(html).toMatch(/name="answer:last-dose" type="text"/);
    expect(html).toContain('Needed for: Thrombophilia screen');
  });

  it('are counted on a button until they are answered; the button leads to the first missing answer', async () => {
    const missingIn = (html: string) =>
      /<a class="nhsuk-button app-missing" href="([^"]*)"[^>]*>(.*?)<\/a>/.exec(html)?.slice(1);
    const launch = await review(['CINR', 'KMSU', 'XKNE'], aYoungPatient());
    const html = await launch.page('review');
    const [href, text = ''] = missingIn(html) ?? [];
    expect([href, text.replace(/<[^>]*>/g, '')]).toEqual([
      '#answer-anticoagulant',
      '4 answers needed: go to the first',
    ]);
    expect(html).toContain('id="answer-anticoagulant"');
    expect(faultsIn(html)).toEqual([]);
    // Required questions come before optional questions.
    const asked = [...html.matchAll(/Asked for: ([^<]*?)\s*</g)].map(([, tests]) => tests);
    expect(asked).toEqual(['INR', 'MSU, Knee X-ray', 'MSU']);
    await launch.post('review', [
      ['answer:anticoagulant', 'None'],
      ['answer:pregnancy', 'No'],
      ['answer:side:XKNE', 'Left'],
      ['action', 'back'],
    ]);
    const [last, one = ''] = missingIn(await launch.page('review')) ?? [];
    expect([last, one.replace(/<[^>]*>/g, '')]).toEqual(['#details', '1 answer needed: go to the first']);
    expect(missingIn(await (await review(['HFBC'])).page('review'))).toBeUndefined();
  });

  it('prevent the submission until they are answered, with all errors at once, and keep the typed text', async () => {
    const launch = await review(['CINR', 'UABD', 'EPROG', 'KFAE'], aYoungPatient());
    const typed: Fields = [
      ['answer:last-menstrual-period-day', '31'],
      ['answer:last-menstrual-period-month', '2'],
      ['answer:last-menstrual-period-year', '2026'],
      ['answer:travel', '“none” <i>'],
      ['priority', 'urgent'],
    ];
    expect(locationOf(await send(launch, typed))).toBe(`${launch.home}review?check`);
    expect(await rowsOf(application, launch)).toEqual([]);
    const html = await launch.page('review?check');
    expect(faultsIn(html)).toEqual([
      '#answer-anticoagulant Select an answer to “Which anticoagulant does the patient take?”',
      '#answer-last-menstrual-period-day “First day of the last menstrual period” must be a real date',
      '#details Enter clinical details. Ultrasound abdomen cannot be done without them',
    ]);
    for (const id of faultsIn(html).map((fault) => fault.slice(1).split(' ')[0]))
      expect(html).toContain(`id="${id}"`);
    expect(html).toMatch(/answer:last-menstrual-period-day" type="text" value="31"/);
    expect(html).toContain('value="“none” &lt;i&gt;"');
    expect(html).toMatch(/value="urgent" checked/);
    expect(faultsIn(await launch.page('review'))).toEqual([]);

    const answered: Fields = [
      ['answer:last-menstrual-period-day', '28'],
      ['answer:last-menstrual-period-month', '2'],
      ['answer:last-menstrual-period-year', '2026'],
      ['answer:anticoagulant', 'None'],
      ['details', 'Headache'],
    ];
    expect(locationOf(await send(launch, answered))).toContain('/orders/');
    const [row] = await rowsOf(application, launch);
    expect(row).toMatchObject({ priority: 'urgent', clinical_details: 'Headache' });
    expect(row?.answers.map(({ question, answer }) => `${question}: ${answer}`)).toEqual([
      'anticoagulant: None',
      'last-menstrual-period: 2026-02-28',
      'travel: “none” <i>',
    ]);
  });

  it('are ignored in a form if no chosen test asks them or if they do not exist', async () => {
    const launch = await review(['HFBC']);
    await send(launch, [
      ['answer:anticoagulant', 'Aspirin'],
      ['answer:__proto__', 'x'],
      ['answer:nothing', 'x'],
      ['reason:HFBC', 'x'],
    ]);
    const [row] = await rowsOf(application, launch);
    expect(row?.answers).toEqual([]);
    expect(JSON.stringify(row?.batches)).not.toContain('repeatReason');
  });
});

describe('the priority of an order', () => {
  const advice = (html: string) =>
    [...(/<div class="app-advice">[^]*?<\/div>/.exec(html)?.[0] ?? '').matchAll(/<p>(.*?)<\/p>/g)].map(
      ([, said = '']) => said.replace(/<[^>]*>/g, ''),
    );

  it('comes with the number to call for an urgent order, and with the warnings of its tests as insets', async () => {
    const html = await (await review(['BTROP', 'KMSU'])).page('review');
    expect(advice(html)).toEqual([
      'Telephone North Coast Pathology on 01632 960201.',
      'Telephone Westcliff Microbiology on 01632 960202.',
      'Troponin: Not for acute chest pain: refer the patient.',
    ]);
    expect(html).toMatch(/inset-text app-inset">[^]{1,99}<p>Not for acute chest pain: refer the patient</);
  });

  it('comes without a number for a laboratory that has none', async () => {
    const launch = await reviewWith(['HFBC'], (file) => file.replace('"telephone": "01632 960201",', ''));
    expect(advice(await launch.page('review'))).toEqual(['Telephone North Coast Pathology.']);
  });

  it('is routine by default, and any value except routine or urgent is answered 400', async () => {
    const launch = await review(['HFBC']);
    expect((await send(launch, [['priority', 'emergency']])).status).toBe(400);
    await send(launch, []);
    expect((await rowsOf(application, launch))[0]?.priority).toBe('routine');
  });
});

describe('the samples of an order', () => {
  it('are collected later by default', async () => {
    const launch = await review(['HFBC', 'BUE']);
    expect(await launch.page('review')).toMatch(/name="collect" type="radio" value="later" checked/);
    await send(launch, []);
    expect((await rowsOf(application, launch))[0]?.status).toBe('Incomplete');
  });

  it('complete the request if they are collected now, by default by the author of the launch', async () => {
    const launch = await review(['HFBC', 'BUE', 'KMSU', 'XCXR']);
    const html = await launch.page('review');
    expect(html).toContain('name="collected-by" type="text" value="Okonkwo, Adaeze (Dr)"');
    expect(html).toContain('name="collected-time" type="text" value="09:30"');
    await send(launch, [
      ['details', 'Cough'],
      ['collect', 'now'],
    ]);
    const [row] = await rowsOf(application, launch);
    expect([row?.status, row?.version]).toEqual(['Complete', 1]);
    const samples = row?.batches.flatMap((batch) => batch.samples) ?? [];
    const taken = { completedAt: '2026-03-02T09:30:00.000Z', collectedBy: 'Okonkwo, Adaeze (Dr)' };
    expect(samples.filter(({ container }) => container !== undefined)).toEqual([
      expect.objectContaining(taken),
      expect.objectContaining(taken),
      expect.objectContaining(taken),
    ]);
    expect(row?.batches.map(({ status }) => status)).toEqual(['S', 'S', 'R']);
  });

  it('are stored with the person and the time that the user typed', async () => {
    const launch = await review(['HFBC']);
    const typed: Fields = [
      ['collect', 'now'],
      ['collected-by', 'Hill, Ada'],
      ['collected-day', '1'],
      ['collected-month', '3'],
      ['collected-year', '2026'],
      ['collected-time', '16:20'],
    ];
    await send(launch, typed);
    const [row] = await rowsOf(application, launch);
    expect(row?.batches[0]?.samples[0]).toMatchObject({
      completedAt: '2026-03-01T16:20:00.000Z',
      collectedBy: 'Hill, Ada',
    });
  });

  it('cannot be collected in the future or without a person; the form keeps the typed text', async () => {
    const launch = await review(['HFBC']);
    const typed: Fields = [
      ['collect', 'now'],
      ['collected-by', ' '],
      ['collected-day', '3'],
      ['collected-month', '3'],
      ['collected-year', '2026'],
      ['collected-time', '16:20'],
    ];
    expect(locationOf(await send(launch, typed))).toBe(`${launch.home}review?check`);
    const html = await launch.page('review?check');
    expect(faultsIn(html).map((fault) => fault.split(' ')[0])).toEqual(['#collected-by', '#collected-day']);
    expect(html).toContain('name="collected-time" type="text" value="16:20"');
    expect(html).toMatch(/name="collect" type="radio" value="now" checked/);
    expect(await rowsOf(application, launch)).toEqual([]);
  });

  it('have no question on the review if no sample is needed; the form accepts only now or later', async () => {
    const launch = await review(['XCXR']);
    expect(await launch.page('review')).not.toContain('name="collect"');
    expect((await send(launch, [['collect', 'yesterday']])).status).toBe(400);
  });
});

describe('text on the review', () => {
  it.each([
    ['details', 20_000],
    ['reason:HHAEM', 2000],
    ['answer:anticoagulant', 2000],
    ['answer:last-menstrual-period-day', 20],
    ['collected-by', 2000],
    ['collected-day', 2000],
  ])('is shortened without splitting a surrogate pair: %s', async (name, length) => {
    const launch = await review(['CINR']);
    const fields: Fields = [
      ['collect', 'now'],
      [name, `${'a'.repeat(length - 1)}😀`],
    ];
    expect(locationOf(await send(launch, fields, 'check'))).toBe(`${launch.home}review?check`);
    expect((await launch.send('review?check')).status).toBe(200);
  });

  it('is shown even if the HTTP request has an absolute URL with an invalid port', async () => {
    const launch = await review(['CINR']);
    const path = `http://host:99999${launch.home}review?check`;
    const status = await new Promise((resolve, reject) => {
      const asked = get(application.url, { path, headers: { cookie: launch.cookie } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject);
    });
    expect(status).toBe(200);
  });
});

describe('the buttons of the review', () => {
  it('start with a button that only checks the form, which the Enter key presses', async () => {
    const launch = await review(['CINR']);
    const form = /<form class="app-submit"[^]*?<\/form>/.exec(await launch.page('review'))?.[0] ?? '';
    expect(/<button[^>]*value="([^"]*)"/.exec(form)?.[1]).toBe('check');
    expect(locationOf(await send(launch, [['answer:anticoagulant', 'None']], 'check'))).toBe(
      `${launch.home}review?check`,
    );
    expect(faultsIn(await launch.page('review?check'))).toEqual([]);
    expect(await rowsOf(application, launch)).toEqual([]);
  });

  it.each(['order', 'remove:', 'update', ''])('are a fixed list: "%s" is answered 400', async (action) => {
    const launch = await review(['HFBC']);
    expect((await send(launch, [], action)).status).toBe(400);
  });
});
