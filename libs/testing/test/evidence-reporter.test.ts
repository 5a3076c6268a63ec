import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Test files by name. An import of Jest's globals is prepended to each. */
const planted = {
  shown: `
    describe('a dose (mg)', () => it('is $1 + 2.5?', () => undefined));
    it.each([1, 2])('row %i passes', () => undefined);
    for (const limit of [3]) it(\`a|b <c> may have \${limit} characters\`, () => undefined);`,
  unshown: `
    it('breaks', () => expect(1).toBe(2));
    it.skip('is skipped', () => undefined);
    it.todo('is to be written');
    it.each([1, 2])('row %i of two passes', (row) => expect(row).toBe(1));
    describe.skip('a block', () => it('is skipped as a whole', () => undefined));`,
  focused: `it.only('runs', () => undefined); it('waits', () => undefined);`,
  'fails-at-import': `it('is declared', () => undefined); throw new Error('cannot load');`,
};

const shownControls = `
### H1 Wrong dose

| cause | effect |
|---|---|
| - [a](test/gone.test.ts) › is no control | harm |

- [shown](test/shown.test.ts) › a dose (mg) is $1 + 2.5?
- [shown](test/shown.test.ts) › row %i passes
- [other](test/other-tier.test.ts) › runs in another tier

## Name

| row | what we do | source | tests |
|---|---|---|---|
| use | Kept | [a](a.ts) | [shown](test/shown.test.ts) › row %i passes<br>[other](test/other-tier.test.ts) › runs |
| text | Kept | [a](a.ts) | [shown](test/shown.test.ts) › a\\|b \\<c> may have \${limit} characters |
| firewall | The operator provides it | – | – |

## Decisions

| question | decision |
|---|---|
| How long? | A day |
`;

const unshownControls = `
### H2 Broken
- [unshown](test/unshown.test.ts) › breaks
### H3 Skipped
- [unshown](test/unshown.test.ts) › is skipped
### H4 Never written
- [unshown](test/unshown.test.ts) › is to be written
### H5 One row broken
- [unshown](test/unshown.test.ts) › row %i of two passes
### H6 Block skipped
- [unshown](test/unshown.test.ts) › a block is skipped as a whole
### H7 Title changed
- [shown](test/shown.test.ts) › is 1 + 2.5?
### H8 Another test focused
- [focused](test/focused.test.ts) › waits
### H9 File cannot load
- [fails-at-import](test/fails-at-import.test.ts) › is declared
### H10 File removed
- [gone](test/gone.test.ts) › shows a control
## Words
- [free](words.md) › not below a hazard
## Limits
| row | what we do | source | tests |
|---|---|---|---|
| length | Limited | – | [shown](test/shown.test.ts) › row %i passes<br>[unshown](test/unshown.test.ts) › breaks |
| rate | Limited | – | [other](test/other-tier.test.ts) › runs<br>[unshown](test/unshown.test.ts) › is skipped |
| id | Limited | – | [shown](test/shown.test.ts) › is limited |
`;

const aRow = (tests: string) =>
  `## Use\n| row | what we do | source | tests |\n|---|---|---|---|\n| row | Done | – | ${tests} |\n`;

let folder: string;
let runs = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'clinical-launch-evidence-'));
  mkdirSync(join(folder, 'test'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const imports = `import { describe, expect, it } from '@jest/globals';\n`;
  for (const [name, text] of Object.entries(planted))
    writeFileSync(join(folder, `test/${name}.test.ts`), `${imports}${text}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Runs Jest with a document and a tier of planted files. Returns its exit code and the claims that it names.
 */
async function run(document: string, tier: readonly (keyof typeof planted)[], ...options: readonly string[]) {
  runs += 1;
  const name = `run-${runs}`;
  const paths = tier.map((file) => join(folder, `test/${file}.test.ts`));
  const reporter = {
    documents: [join(folder, `${name}.md`)],
    files: paths,
    otherFiles: [join(folder, 'test/other-tier.test.ts')],
  };
  writeFileSync(join(folder, `${name}.md`), document);
  writeFileSync(
    join(folder, `${name}.config.js`),
    `import ours from '${root}tests/jest.config.js';
     const project = { ...ours.projects[0], roots: ['${folder}'], testMatch: ${JSON.stringify(paths)} };
     const [standard, [reporter]] = ours.reporters;
     const reporters = [standard, [reporter, ${JSON.stringify(reporter)}]];
     export default { ...ours, reporters, projects: [project] };`,
  );
  const jest = [
    `${root}node_modules/jest/bin/jest.js`,
    `--config=${join(folder, `${name}.config.js`)}`,
    '-i',
  ];
  const env = { ...process.env, FORCE_COLOR: '0' };
  const [exitCode, output] = await new Promise<[unknown, string]>((resolve) => {
    execFile(process.execPath, [...jest, ...options], { env }, (error, _stdout, stderr) =>
      resolve([error?.code ?? 0, stderr]),
    );
  });
  const named = output.matchAll(/^Claim without its test: (.+)\n {2}(\w+)/gm);
  return { exitCode, output, claims: [...named].map(([, claim, reason]) => `${claim}: ${reason}`) };
}

describe('a run of a tier', () => {
  it('passes if each claim of the tier has a passing test', async () => {
    expect(await run(shownControls, ['shown'])).toMatchObject({ exitCode: 0, claims: [] });
  });

  it('fails and names each hazard and table row whose test is absent, skipped or failed', async () => {
    const tier = ['shown', 'unshown', 'focused', 'fails-at-import'] as const;
    const { exitCode, claims } = await run(shownControls + unshownControls, tier);
    expect(exitCode).toBe(1);
    expect(claims).toEqual([
      'H2 Broken: failed',
      'H3 Skipped: skipped',
      'H4 Never written: skipped',
      'H5 One row broken: failed',
      'H6 Block skipped: skipped',
      'H7 Title changed: absent',
      'H8 Another test focused: skipped',
      'H9 File cannot load: absent',
      'H10 File removed: absent',
      'Limits: length: failed',
      'Limits: rate: skipped',
      'Limits: id: absent',
    ]);
  });

  it('fails because of a hazard alone, although no test failed', async () => {
    const { exitCode, claims } = await run(unshownControls, ['shown', 'focused']);
    expect(exitCode).toBe(1);
    expect(claims).toContain('H10 File removed: absent');
  });

  it.each([
    ['a hazard without a test', '### H1 Wrong dose\n', 'no title of a test shows H1 Wrong dose'],
    ['a control without a test', '### H1 Wrong dose\n- a promise\n', 'H1 Wrong dose: write', 'not a promise'],
    ['two hazards with one number', `${shownControls}${shownControls}`, 'two claims have the name H1'],
    ['a row with only a file', aRow('[a](a.test.ts)'), 'Use: row: write', 'not [a](a.test.ts)'],
    ['a row without tests', aRow(''), 'Use: row: write'],
    ['no claim', '# Conformance\n\nAll is well.\n', 'no hazard and no row with tests'],
  ])('fails if the document contains %s', async (_fault, document, ...messages) => {
    const { exitCode, output } = await run(document, ['shown']);
    expect(exitCode).toBe(1);
    for (const message of messages) expect(output).toContain(message);
  });
});

describe('a run of some files', () => {
  it('judges only the controls of these files', async () => {
    const document = shownControls + unshownControls;
    const { exitCode, claims } = await run(document, ['shown', 'unshown', 'focused'], 'focused');
    expect(exitCode).toBe(1);
    expect(claims).toEqual(['H8 Another test focused: skipped']);
  });

  it('passes if a passed test shows each control of these files', async () => {
    expect(await run(shownControls, ['shown', 'unshown'], 'test/shown')).toMatchObject({ exitCode: 0 });
  });
});

describe('a run of selected tests (-t)', () => {
  it('checks nothing', async () => {
    const document = shownControls + unshownControls;
    expect(await run(document, ['shown', 'focused'], '-t', 'runs')).toMatchObject({
      exitCode: 0,
      claims: [],
    });
  });
});
