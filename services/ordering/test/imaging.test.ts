import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import type { PatientTraits } from '../src/domain/applies-to.ts';
import { parseCatalogue } from '../src/domain/catalogue.ts';
import { safetyFaults } from '../src/domain/catalogue-safety.ts';
import { askedBy } from '../src/domain/questions.ts';
import { jsonb, openOrderingDatabase } from '../src/store/database.ts';
import { stored } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  aYoungPatient,
  chooseAndReview,
  fieldValues,
  neededFor,
  openAction,
  startOrdering,
  submit,
} from './launches.ts';

const catalogue = readCatalogue();
const imaging = [...catalogue.orderables.values()].filter((test) => test.imaging !== undefined);

/** Returns the topics of the questions that must be answered before this patient has an examination. */
function topicsFor(code: string, patient: PatientTraits) {
  const tests = [...catalogue.orderables.values()].filter((test) => test.code === code);
  return askedBy(tests, patient).flatMap(({ question, isRequired }) => (isRequired ? [question.topic] : []));
}

describe('an imaging examination', () => {
  it('always requires clinical details', () => {
    expect(imaging.length).toBeGreaterThan(20);
    expect(imaging.filter(({ needsClinicalDetails }) => !needsClinicalDetails)).toEqual([]);
  });

  it.each([
    ['XCXR', 11, []],
    ['XCXR', 12, ['pregnancy']],
    ['XCXR', 55, ['pregnancy']],
    ['XCXR', 56, []],
    ['DEXA', 40, ['pregnancy']],
    ['UABD', 30, []],
    ['XKNE', 30, ['side', 'pregnancy']],
    ['TCCH', 56, ['contrast-allergy', 'kidney-function']],
    ['RMKN', 56, ['side', 'mri-safety']],
  ])('such as %s requires answers for a woman aged %i on the topics %j', (code, age, topics) => {
    expect(topicsFor(code, { gender: 'female', age })).toEqual(topics);
  });

  it.each([
    ['male', []],
    ['other', ['pregnancy']],
    ['unknown', ['pregnancy']],
  ] as const)('by X-ray requires answers for a patient of gender %s on the topics %j', (gender, topics) => {
    expect(topicsFor('XCXR', { gender, age: 30 })).toEqual(topics);
  });
});

describe('a catalogue entry that may cause harm', () => {
  const location = { id: 'SVI', name: 'Imaging', code: { value: 'X', scheme: 'LOCAL' }, category: 'Imaging' };
  const check = (test: object, questions: object[] = [], elsewhere: object[] = []) =>
    safetyFaults(
      parseCatalogue({
        locations: [location],
        containers: [],
        groups: [{ id: 'g', name: 'G' }],
        orderables: [{ code: 'A', name: 'A', group: 'g', location: 'SVI', ...test }],
        questions,
        orderSets: [],
        elsewhere,
      }),
    );
  const ask = (topic: string, question: object = {}, isRequired = true) =>
    [
      { asks: [{ question: 'q', isRequired }] },
      [
        {
          id: 'q',
          text: 'Q',
          topic,
          ...(topic === 'pregnancy'
            ? { kind: 'choice', options: ['Yes', 'No', 'Not known'] }
            : { kind: 'text' }),
          ...question,
        },
      ],
    ] as const;

  it.each([
    ['an examination without a modality', {}, [], ['A must state its imaging modality']],
    [
      'an examination without clinical details',
      { imaging: { modality: 'ultrasound' }, needsClinicalDetails: false },
      [],
      ['A must need clinical details'],
    ],
    [
      'an X-ray without a pregnancy question',
      { imaging: { modality: 'x-ray' } },
      [],
      ['A must ask a required question on the topic pregnancy'],
    ],
    [
      'a CT with contrast without questions',
      { imaging: { modality: 'ct', hasContrast: true } },
      [],
      ['pregnancy', 'contrast-allergy', 'kidney-function'].map(
        (topic) => `A must ask a required question on the topic ${topic}`,
      ),
    ],
    [
      'an MRI without its safety question',
      { imaging: { modality: 'mri' } },
      [],
      ['A must ask a required question on the topic mri-safety'],
    ],
  ])('is reported for %s', (_case, test, questions, faults) => {
    expect(check(test, questions)).toEqual(faults);
  });

  it('is reported for a pregnancy question that is optional or is not asked of all women from 12 to 55', () => {
    const xray = { imaging: { modality: 'x-ray' } };
    const [optional, questions] = ask('pregnancy', {}, false);
    expect(check({ ...xray, ...optional }, [...questions])).toHaveLength(1);
    for (const appliesTo of [{ ageFrom: 13 }, { ageTo: 54 }, { sex: 'male' }]) {
      const [asks, narrow] = ask('pregnancy', { appliesTo });
      expect(check({ ...xray, ...asks }, [...narrow])).toEqual([
        'question q must be asked of women from 12 to 55 years',
      ]);
    }
    const [asks, whole] = ask('pregnancy', { appliesTo: { sex: 'female', ageFrom: 12, ageTo: 55 } });
    expect(check({ ...xray, ...asks }, [...whole])).toEqual([]);
  });

  it('is reported if a pregnancy question offers its answers in the wrong order', () => {
    const [asks, reversed] = ask('pregnancy', { options: ['No', 'Yes', 'Not known'] });
    expect(check({ imaging: { modality: 'x-ray' }, ...asks }, [...reversed])).toEqual([
      'question q must offer Yes, No, Not known, in this order',
    ]);
  });

  it('is reported for two questions on one topic', () => {
    const [asks, one] = ask('pregnancy');
    expect(check({ imaging: { modality: 'x-ray' }, ...asks }, [...one, { ...one[0], id: 'other' }])).toEqual([
      'questions q and other must be one: both have the topic pregnancy',
    ]);
  });

  it('is reported if a test has the same name as a test that is requested elsewhere', () => {
    const [asks, questions] = ask('pregnancy');
    const test = { imaging: { modality: 'x-ray' }, synonyms: ['Plain film'], ...asks };
    const elsewhere = [{ name: 'B', synonyms: ['plain films', 'plain film'], instead: 'Ask the clinic.' }];
    expect(check(test, [...questions], elsewhere)).toEqual([
      'elsewhere B must not have the name plain film of A',
    ]);
  });

  it('is reported if a question about the side is asked once for several tests', () => {
    const [asks, once] = ask('side');
    expect(check({ imaging: { modality: 'ultrasound', hasSides: true }, ...asks }, [...once])).toEqual([
      'question q must be asked per test',
    ]);
  });
});

describe('a request for imaging examinations', () => {
  let application: Application;
  beforeAll(async () => {
    application = await startOrdering();
  });
  afterAll(() => application.stop());

  it('stores the side of each examination', async () => {
    const context = aLaunchContext({ request: { patient: aYoungPatient() } });
    const launch = await chooseAndReview(application, ['XKNE', 'XSHO'], context);
    const html = await launch.page('review');
    expect(html).toContain('Which side? (Knee X-ray)');
    expect(html.match(/name="answer:pregnancy"/g)).toHaveLength(3);
    const guid = (await submit(launch, 'Fall')).headers.get('location')?.split('/').at(-1) ?? '';
    expect((await stored(application, guid)).answers.map(({ text, answer }) => `${text} ${answer}`)).toEqual([
      'Which side? (Knee X-ray) Left',
      'Is the patient pregnant, or might the patient be? No',
      'Which side? (Shoulder X-ray) Left',
    ]);
  });

  it('asks once about a pregnancy for several tests, and prints the answer on each laboratory’s form', async () => {
    const context = aLaunchContext({ request: { patient: aYoungPatient() } });
    const launch = await chooseAndReview(application, ['KMSU', 'XKNE'], context);
    const html = await launch.page('review');
    expect(html.match(/pregnan[^<]*(?=<\/legend>)/g)).toEqual([
      expect.stringMatching(/^pregnant, or might the patient be\?\s*$/),
    ]);
    expect(html).toContain('Asked for: MSU, Knee X-ray');
    const options = [...html.matchAll(/name="answer:pregnancy" type="radio" value="([^"]*)"/g)];
    expect(options.map(([, value]) => value)).toEqual(['Yes', 'No', 'Not known']);
    const guid = (await submit(launch, 'Fall')).headers.get('location')?.split('/').at(-1) ?? '';
    const forms = await launch.page(`requests/${guid}/form`);
    expect(forms.match(/might the patient be\?<\/dt><dd[^>]*><bdi>No</g)).toHaveLength(2);
    expect(await launch.page(`orders/${guid}`)).not.toContain('ionising');
  });

  it.each(['Yes', 'Not known'])(
    'shows whom to telephone, and a box on the form of the imaging, if the answer about a pregnancy is %s',
    async (answer) => {
      const context = aLaunchContext({ request: { patient: aYoungPatient() } });
      const launch = await chooseAndReview(application, ['KMSU', 'XKNE', 'TCHD', 'UABD'], context);
      const html = await launch.page('review');
      const answers = neededFor(html).map(([name, value]): [string, string] =>
        name === 'answer:pregnancy' ? [name, answer] : [name, value],
      );
      const { headers } = await launch.post('review', [
        ['version', fieldValues(html, 'version')[0] ?? ''],
        ...answers,
        ['answer:contrast-allergy', 'No'],
        ['answer:kidney-function', 'Not known'],
        ['action', 'submit'],
      ]);
      const guid = headers.get('location')?.split('/').at(-1);
      const result = await launch.page(`orders/${guid}`);
      for (const page of [html, result]) {
        expect(page.replace(/<[^>]*>/g, '')).toContain(
          'Knee X-ray and CT head use ionising radiation. Telephone Seaview Imaging Centre on 01632 960203 before the patient attends.',
        );
      }
      expect(result).toContain('The patient is or might be pregnant');
      const sheets = (await launch.page(`requests/${guid}/form`)).split('<section class="app-form"').slice(1);
      const question = 'Is the patient pregnant, or might the patient be?';
      expect(sheets.map((sheet) => sheet.split('app-form__alert').slice(1))).toEqual([
        [],
        [expect.stringContaining(`>${question} <bdi>${answer}</bdi></p>`)],
      ]);
      expect(sheets.map((sheet) => sheet.split(question).length - 1)).toEqual([1, 1]);
    },
  );

  it('shows an answer to a question that has left the catalogue, and a change asks the current question', async () => {
    const context = aLaunchContext({ request: { patient: aYoungPatient() } });
    const order = await anOrder(application, ['KMSU'], context);
    const database = await openOrderingDatabase(application.storage);
    const before = [{ question: 'pregnant', text: 'Is the patient pregnant?', answer: 'Not known' }];
    await database
      .updateTable('test_requests')
      .set({ answers: jsonb(before) })
      .where('guid', '=', order.guid)
      .execute();
    const report = await openAction(application, 'PatientReport', order);
    for (const path of [`requests/${order.guid}`, `requests/${order.guid}/form`]) {
      expect(await report.page(path)).toMatch(/Is the patient pregnant\?<\/dt>\s*<dd[^>]*><bdi>Not known</);
    }
    const change = await openAction(application, 'UpdateTest', order);
    const review = await change.page(`requests/${order.guid}/tests/review`);
    expect(review).toContain('name="answer:pregnancy"');
    expect(review).not.toMatch(/name="answer:pregnan[^>]* checked/);
  });

  it.each([
    ['a number', [{ system: 'phone', value: '07700 900461', use: 'mobile' }], '07700 900461 (mobile)'],
    ['only an e-mail address', [{ system: 'email', value: 'a@example.org' }], 'Not given'],
  ] as const)(
    'shows the patient’s telephone number, and the form states that no number is given: %s',
    async (_what, telecom, shown) => {
      const context = aLaunchContext({ request: { patient: aPatient({ telecom: [...telecom] }) } });
      const order = await anOrder(application, ['XCXR'], context);
      const launch = await openAction(application, 'PatientReport', order);
      const form = await launch.page(`requests/${order.guid}/form`);
      const [, telephone] = /<dt>Telephone<\/dt><dd>(.*?)<\/dd>/.exec(form) ?? [];
      expect(telephone?.replace(/<[^>]*>/g, '')).toBe(shown);
      const page = await launch.page(`requests/${order.guid}`);
      expect(page.includes('<dt>Telephone</dt>')).toBe(shown !== 'Not given');
    },
  );
});
