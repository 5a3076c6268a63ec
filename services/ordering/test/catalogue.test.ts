import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import { readOrderingConfig } from '../src/config.ts';
import { setFor } from '../src/domain/applies-to.ts';
import { parseCatalogue } from '../src/domain/catalogue.ts';
import { isConceptId } from '../src/domain/catalogue-faults.ts';
import { safetyFaults } from '../src/domain/catalogue-safety.ts';

const file = JSON.parse(
  readFileSync(new URL('../catalogue/catalogue.json', import.meta.url), 'utf8'),
) as Record<
  'locations' | 'containers' | 'groups' | 'orderables' | 'questions' | 'orderSets',
  Record<string, unknown>[]
>;

const changed = (list: keyof typeof file, index: number, change: Record<string, unknown>) => ({
  ...file,
  [list]: file[list].map((entry, at) => (at === index ? { ...entry, ...change } : entry)),
});

const withoutOptions = (index: number) => ({
  ...file,
  questions: file.questions.map(({ options, ...rest }, at) =>
    at === index || options === undefined ? rest : { ...rest, options },
  ),
});

describe('the default catalogue', () => {
  const catalogue = readCatalogue();
  const orderables = [...catalogue.orderables.values()];

  it('contains at least 230 tests of pathology, imaging and physiology at four locations', () => {
    expect(orderables.length).toBeGreaterThanOrEqual(230);
    const used = new Set(orderables.map(({ location }) => location));
    expect([...used].toSorted((one, other) => one.id.localeCompare(other.id))).toEqual(
      catalogue.locations.toSorted((one, other) => one.id.localeCompare(other.id)),
    );
    expect(used.size).toBe(4);
    expect(new Set([...used].map(({ category }) => category))).toEqual(
      new Set(['Pathology', 'Imaging', 'Physiology']),
    );
  });

  it('has a sample for every pathology test and for no other test', () => {
    for (const { code, samples, location } of orderables) {
      expect([code, samples.length > 0]).toEqual([code, location.category === 'Pathology']);
    }
  });

  it('has no unused group or container, and no order set with repeated tests', () => {
    for (const group of catalogue.groups) expect(orderables.map((test) => test.group)).toContain(group);
    for (const container of catalogue.containers.values())
      expect(orderables.flatMap(({ samples }) => samples.map((each) => each.container))).toContain(container);
    for (const { tests } of catalogue.orderSets.values()) expect(new Set(tests).size).toBe(tests.length);
    expect(catalogue.orderSets.size).toBeGreaterThanOrEqual(5);
  });

  it('contains no error that may harm a patient', () => {
    expect(safetyFaults(catalogue)).toEqual([]);
  });

  it.each(['dmard', 'nhs-health-check', 'pcos', 'menopause', 'dementia', 'liver'])(
    'contains the order set %s, whose tests all apply to a woman or all to a man of 45',
    (id) => {
      const set = catalogue.orderSets.get(id);
      if (set === undefined) throw new Error(`The catalogue has no order set ${id}`);
      const patients = (['female', 'male'] as const).map((gender) => ({ gender, age: 45 }));
      expect(patients.some((patient) => setFor(set, patient).tests.length === set.tests.length)).toBe(true);
    },
  );

  it('contains advice on timing for every drug level and for other tests whose result depends on the time', () => {
    const levels = orderables.filter(({ name }) => name.endsWith(' level'));
    expect(levels.length).toBeGreaterThan(10);
    for (const code of [...levels.map((level) => level.code), 'ETEST', 'MPSA', 'ECORT', 'KHPSA']) {
      expect([code, catalogue.orderables.get(code)?.note !== undefined]).toEqual([code, true]);
    }
  });

  it('does not give a test the abbreviation or synonym of a similar analyte, such as BNP for NT-proBNP', () => {
    expect(catalogue.orderables.get('BBNP')?.abbreviation).toBeUndefined();
    expect(catalogue.orderables.get('BELF')?.abbreviation).toBe('ELF');
    expect(catalogue.orderables.get('ETEST')?.synonyms).not.toContain('SHBG');
    expect(catalogue.orderables.get('VBBV')?.covers).toContain('VHBCB');
  });

  it('has only panels of single tests of one laboratory, and no order set with both a panel and one of its tests', () => {
    const panels = orderables.filter(({ covers }) => covers.length > 0);
    expect(panels.map(({ code }) => code)).toEqual(['HHAEM', 'BPROF', 'BMSCR', 'EFERT', 'VBBV']);
    for (const panel of panels) {
      for (const code of panel.covers) {
        const part = catalogue.orderables.get(code);
        expect([code, part?.location, part?.covers]).toEqual([code, panel.location, []]);
      }
    }
    for (const { tests } of catalogue.orderSets.values()) {
      const covered = tests.flatMap(({ covers }) => covers);
      expect(tests.filter(({ code }) => covered.includes(code))).toEqual([]);
    }
  });

  it('uses each question for at least one test, and lists options only for questions of the kind “choice”', () => {
    const asked = new Set(orderables.flatMap(({ asks }) => asks.map(({ question }) => question)));
    expect(asked).toEqual(new Set(catalogue.questions.values()));
    for (const { id, kind, options } of catalogue.questions.values())
      expect([id, options !== undefined]).toEqual([id, kind === 'choice']);
  });

  it('states for each test the questions, the need for clinical details, and the minimum interval', () => {
    expect(catalogue.orderables.get('CTHRO')).toMatchObject({
      asks: [{ question: catalogue.questions.get('anticoagulant'), isRequired: true }],
      needsClinicalDetails: true,
      covers: [],
    });
    expect(catalogue.orderables.get('CCLOT')).toMatchObject({
      asks: [{ question: catalogue.questions.get('anticoagulant'), isRequired: false }],
      needsClinicalDetails: false,
    });
    expect(catalogue.orderables.get('DHBA1C')?.minimumIntervalDays).toBe(56);
    expect(catalogue.orderables.get('HFBC')?.minimumIntervalDays).toBeUndefined();
  });

  it('uses only container colours that the stylesheet defines', () => {
    const css = readFileSync(new URL('../public/app.css', import.meta.url), 'utf8');
    for (const { colour } of catalogue.containers.values()) expect(css).toContain(`.app-tube--${colour} {`);
  });

  it('sorts tubes by the order of draw: citrate, plain serum, serum gel, heparin, EDTA, fluoride', () => {
    const order = ['citrate', 'serum-plain', 'serum', 'heparin', 'edta', 'fluoride'].map(
      (id) => catalogue.containers.get(id)?.drawOrder,
    );
    expect(order).toEqual([...order].toSorted((one = 0, other = 0) => one - other));
    expect(order).not.toContain(undefined);
  });
});

describe('an invalid catalogue', () => {
  it.each([
    ['a test in an unknown group', changed('orderables', 3, { group: 'nowhere' }), 'orderables[3].group'],
    ['a test of an unknown location', changed('orderables', 0, { location: 'XX' }), 'orderables[0].location'],
    [
      'a sample in an unknown container',
      changed('orderables', 0, { container: undefined, samples: [{ container: 'x' }] }),
      'orderables[0].samples[0].container',
    ],
    [
      'both samples and a container',
      changed('orderables', 0, { samples: [{ container: 'serum' }] }),
      'orderables[0].samples must be absent',
    ],
    [
      'a repeated sample',
      changed('orderables', 0, {
        container: undefined,
        samples: [{ container: 'serum' }, { container: 'serum' }],
      }),
      'orderables[0].samples[1] is repeated',
    ],
    [
      'a site question that the test does not ask',
      changed('orderables', 0, {
        container: undefined,
        samples: [{ container: 'serum', siteQuestion: 'wound-site' }],
      }),
      'orderables[0].samples[0].siteQuestion',
    ],
    [
      'ages in the wrong order',
      changed('orderables', 0, { appliesTo: { ageFrom: 56, ageTo: 55 } }),
      'orderables[0].appliesTo',
    ],
    [
      'a choice with a limit in weeks',
      changed('questions', 0, { withinWeeks: 45 }),
      'questions[0].withinWeeks',
    ],
    [
      'a choice that must be known',
      changed('questions', 0, { mustBeKnown: true }),
      'questions[0].mustBeKnown',
    ],
    [
      'a test in an unknown container',
      changed('orderables', 0, { container: 'x' }),
      'orderables[0].container',
    ],
    [
      'an order set with an unknown test',
      changed('orderSets', 1, { tests: ['NONE'] }),
      'orderSets[1].tests[0]',
    ],
    ['a repeated code', changed('orderables', 1, { code: 'HFBC' }), 'orderables[1] is repeated'],
    ['a repeated location id', changed('locations', 1, { id: 'NCP' }), 'locations[1] is repeated'],
    [
      'a scheme that the order document does not allow',
      changed('locations', 0, { code: { value: 'x', scheme: 'GMC' } }),
      'locations[0].code.scheme',
    ],
    ['an unknown colour', changed('containers', 0, { colour: 'plaid' }), 'containers[0].colour'],
    ['a panel of an unknown test', changed('orderables', 0, { covers: ['NONE'] }), 'orderables[0].covers[0]'],
    ['a panel of a panel', changed('orderables', 0, { covers: ['BUE', 'HHAEM'] }), 'orderables[0].covers[1]'],
    ['a panel of itself', changed('orderables', 0, { covers: ['HFBC'] }), 'orderables[0].covers[0]'],
    ['an empty panel', changed('orderables', 0, { covers: [] }), 'orderables[0].covers'],
    [
      'an unknown question',
      changed('orderables', 0, { asks: [{ question: 'fasting' }, { question: 'nothing' }] }),
      'orderables[0].asks[1].question',
    ],
    ['a repeated question', changed('questions', 1, { id: 'fasting' }), 'questions[1] is repeated'],
    ['a choice without options', withoutOptions(0), 'questions[0].options'],
    ['a choice with one option', changed('questions', 0, { options: ['Yes'] }), 'questions[0].options'],
    ['a date with options', changed('questions', 1, { options: ['1', '2'] }), 'questions[1].options'],
    ['an unknown kind of question', changed('questions', 1, { kind: 'number' }), 'questions[1].kind'],
    [
      'an interval of zero days',
      changed('orderables', 0, { minimumIntervalDays: 0 }),
      'orderables[0].minimumIntervalDays',
    ],
    [
      'an interval of half a day',
      changed('orderables', 0, { minimumIntervalDays: 0.5 }),
      'orderables[0].minimumIntervalDays',
    ],
    [
      'a concept id with a wrong digit',
      changed('orderables', 0, { snomed: '26604008' }),
      'orderables[0].snomed',
    ],
    ['an unknown property', changed('groups', 0, { hint: 'x' }), 'groups[0]'],
  ])('is refused for %s', (_case, candidate, path) => {
    expect(() => parseCatalogue(candidate)).toThrow(path);
  });

  it('is refused with a message that lists every error', () => {
    const candidate = {
      ...changed('orderables', 0, { group: 'a' }),
      orderSets: [{ id: 'x', name: 'X', tests: ['Y'] }],
    };
    expect(() => parseCatalogue(candidate)).toThrow(/orderables\[0\]\.group[^]*orderSets\[0\]\.tests\[0\]/);
  });

  it('is refused by readOrderingConfig with a message that names the environment variable', () => {
    const environment = { PUBLIC_URL: 'http://localhost:8080', CATALOGUE_FILE: '/nowhere/catalogue.json' };
    expect(() => readOrderingConfig(environment)).toThrow('CATALOGUE_FILE cannot be read');
    expect(() => readOrderingConfig({ ...environment, PUBLIC_URL: 'localhost' })).toThrow(
      'PUBLIC_URL must be',
    );
    expect(() => readOrderingConfig({ PUBLIC_URL: 'http://x', TIME_ZONE: 'Europe/Nowhere' })).toThrow(
      'TIME_ZONE',
    );
  });
});

describe('isConceptId', () => {
  it.each([
    ['26604007', true],
    ['1290407002', true],
    ['1022431000000105', true],
    ['26604008', false],
    ['62604007', false],
    ['26604017', false],
    ['404437013', false],
    ['1000', false],
    ['12345678901234567890', false],
    ['', false],
  ])('checks the partition and the check digit of the SNOMED CT identifier %s', (text, expected) => {
    expect(isConceptId(text)).toBe(expected);
  });
});
