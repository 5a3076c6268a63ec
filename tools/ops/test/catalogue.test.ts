import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCatalogueSheet } from '../src/catalogue/catalogue-sheet.ts';
import { runOps, runOpsHere } from './run-ops.ts';

const shipped = fileURLToPath(
  new URL('../../../services/ordering/catalogue/catalogue.json', import.meta.url),
);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file, and returns its path. */
function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

type File = Record<string, unknown> & { orderables: Record<string, unknown>[] };
const readShipped = () => JSON.parse(readFileSync(shipped, 'utf8')) as File;

/** Returns the shipped catalogue with one changed test. */
function changed(code: string, change: Record<string, unknown>): string {
  const content = readShipped();
  const orderables = content.orderables.map((test) =>
    test['code'] === code ? { ...test, ...change } : test,
  );
  return JSON.stringify({ ...content, orderables });
}

const catalogue = (...args: string[]) => runOpsHere(['catalogue', ...args], {});

describe('catalogue check', () => {
  it('finds no faults in the shipped catalogue', async () => {
    expect(await runOps(['catalogue', 'check', shipped], {})).toMatchObject({
      code: 0,
      output: expect.stringMatching(/\d+ tests and no faults\n$/),
    });
  });

  it('warns of a test that names a sex and no age, and exits with 0', async () => {
    const check = (ages: object) =>
      catalogue('check', fileOf('sex.json', changed('MPSA', { appliesTo: { sex: 'male', ...ages } })));
    const warned = await check({});
    expect([warned.code, warned.output]).toEqual([0, expect.stringContaining('warning: MPSA names a sex')]);
    expect((await check({ ageFrom: 0 })).output).not.toContain('warning');
  });

  it.each([
    ['a dangling reference', 'HFBC', { group: 'nowhere' }, /^line 1, column \d+: orderables\[0\]\.group/],
    ['an X-ray without its pregnancy question', 'XCXR', { asks: [] }, /XCXR must ask .* pregnancy/],
    ['an examination without clinical details', 'UABD', { needsClinicalDetails: false }, /UABD must need/],
    [
      'an X-ray of a knee without its side',
      'XKNE',
      { asks: [{ question: 'pregnancy', isRequired: true }] },
      /side/,
    ],
  ])('reports %s, and exits with 1', async (_what, code, change, expected) => {
    const path = fileOf('faulty.json', changed(code, change));
    const { code: exit, output, errors } = await catalogue('check', path);
    expect(exit).toBe(1);
    expect(output + errors).toMatch(expected);
  });

  it('exits with 2 for a missing file, and with 1 and the position for a file that is not JSON', async () => {
    expect((await catalogue('check', '/nowhere/catalogue.json')).code).toBe(2);
    expect(await catalogue('check', fileOf('bad.json', '{\n  "orderables": [}'))).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^The file is not JSON: .*, at line 2, column 18\n$/),
    });
  });
});

describe('catalogue import', () => {
  const header = 'code,name,group,location,samples,asks,sex,ageFrom,modality,snomed,finds';
  const importing = async (csv: string) => {
    const target = fileOf('target.json', readFileSync(shipped, 'utf8'));
    const done = await catalogue('import', fileOf('tests.csv', csv), '--into', target);
    return { ...done, after: JSON.parse(readFileSync(target, 'utf8')) as File };
  };

  it('replaces a test with the same code, and adds other tests', async () => {
    const { code, output, after } = await importing(
      [
        header,
        'HFBC,Full blood count,haematology,NCP,edta,,,,,26604007,anaemia; tired',
        'NEWA,"New test, first",haematology,NCP,citrate; fluoride # fasting,fasting!; anticoagulant,female,18,,,',
        'NEWX,New X-ray,x-ray,SVI,,pregnancy!,,,x-ray,,',
      ].join('\r\n'),
    );
    expect([code, output.trim()]).toEqual([0, '2 tests were added, 1 replaced']);
    const find = (wanted: string) => after.orderables.filter((test) => test['code'] === wanted);
    expect(find('HFBC')).toEqual([
      {
        code: 'HFBC',
        name: 'Full blood count',
        group: 'haematology',
        location: 'NCP',
        samples: [{ container: 'edta' }],
        snomed: '26604007',
        finds: ['anaemia', 'tired'],
      },
    ]);
    expect(find('NEWA')).toMatchObject([
      {
        name: 'New test, first',
        samples: [{ container: 'citrate' }, { container: 'fluoride', timing: 'fasting' }],
        asks: [{ question: 'fasting', isRequired: true }, { question: 'anticoagulant' }],
        appliesTo: { sex: 'female', ageFrom: 18 },
      },
    ]);
    expect(after.orderables).toHaveLength(readShipped().orderables.length + 2);
  });

  it.each([
    ['an invalid row', 'NEWA,New,haematology,NCP,edta,,,old,,,', /line 2 ageFrom must be a number/],
    ['a dangling reference', 'NEWA,New,nowhere,NCP,edta,,,,,,', /group/],
    ['a violated safety rule', 'NEWX,New,x-ray,SVI,,,,,x-ray,,', /NEWX must ask/],
    ['a stray quote', 'NEWA,Ne"w,haematology,NCP,edta,,,,,,', /line 2/],
  ])('writes nothing and exits with 1 for %s', async (_what, row, expected) => {
    const { code, output, errors, after } = await importing(`${header}\n${row}`);
    expect(code).toBe(1);
    expect(output + errors).toMatch(expected);
    expect(after).toEqual(readShipped());
  });
});

describe('a spreadsheet of tests', () => {
  it.each([
    ['code,name,group', ['line 1 must have the column location']],
    ['code,name,group,location,colour', ['line 1 has an unknown column: "colour"']],
    ['code,name,group,location,code', ['line 1 has the column code twice']],
    ['code,name,group,location\nA,B,C', ['line 2 must have 4 fields', 'line 2 must have a location']],
    ['code,name,group,location\nA,B,C,D\nA,B,C,D', ['line 3 repeats the code of line 2']],
    ['', ['code', 'name', 'group', 'location'].map((name) => `line 1 must have the column ${name}`)],
  ])('with the content %j produces a message for each fault', (csv, faults) => {
    expect(readCatalogueSheet(csv).faults).toEqual(faults);
  });

  it('may contain a byte order mark, spaces and the sites of samples', () => {
    const csv =
      '\uFEFFcode, name ,group,location,samples,telephoneFirst\nA,B,C,D,swab @ Throat; swab ? where,Yes';
    expect(readCatalogueSheet(csv)).toEqual({
      faults: [],
      tests: [
        {
          code: 'A',
          name: 'B',
          group: 'C',
          location: 'D',
          samples: [
            { container: 'swab', site: 'Throat' },
            { container: 'swab', siteQuestion: 'where' },
          ],
          telephoneFirst: true,
        },
      ],
    });
  });
});
