import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Test files by name. An import of Jest's globals is prepended to each. */
const planted = {
  passes: `
    import { createSealer } from '${root}libs/crypto/src/sealing.ts';
    import { describeShared } from './shared.ts';
    it('loads a project module', () => expect(createSealer).toBeInstanceOf(Function));
    it.each([1, 2])('takes row %i', (row: number) => expect(row).toBeGreaterThan(0));
    describe.each(['a', 'b'])('block %s', (name) => it('runs ' + name, () => undefined));
    describeShared();
    it.todo('is to be written');
    it.skip('is skipped', () => { throw new Error('it ran'); });`,
  'only-one': `
    it.only('runs', () => undefined);
    it('is not selected', () => { throw new Error('it ran'); });`,
  'shares-a-suite': `import { describeShared } from './shared.ts'; describeShared();`,
  'assertion-fails': `it('is wrong', () => expect(1).toBe(2));`,
  'test-hangs': `
    it('never ends', () => new Promise(() => undefined));
    it('is not run after the time-out', () => { throw new Error('it ran'); });`,
  'test-hangs-by-its-own-limit': `it('never ends', () => new Promise(() => undefined), 50);`,
  'page-stays-away': `
    it('waits for an element', () => { throw Object.assign(new Error('waited'), { name: 'TimeoutError' }); });
    it('is not run after the time-out', () => { throw new Error('it ran'); });`,
  'server-stays-away': `
    describe('a block', () => {
      beforeAll(() => { throw Object.assign(new Error('waited for it'), { name: 'TimeoutError' }); });
      it('needs the server', () => undefined);
    });
    describe('another block', () => {
      beforeAll(() => { throw new Error('a hook ran'); });
      it('is not run', () => { throw new Error('it ran'); });
    });`,
  'hook-hangs': `beforeEach(() => new Promise(() => undefined)); it('waits', () => undefined);`,
  'before-all-fails': `
    beforeAll(() => { throw new Error('no server'); });
    it('first', () => process.exit(0));
    it('second', () => undefined);`,
  'after-all-fails': `afterAll(() => { throw new Error('not stopped'); }); it('passes', () => undefined);`,
  'after-each-fails': `afterEach(() => { throw new Error('not reset'); }); it('passes', () => undefined);`,
  'rejection-is-unhandled': `
    it('does not await a promise', async () => {
      void Promise.reject(new Error('nobody looks'));
      await new Promise((resolve) => setTimeout(resolve, 20));
    });`,
  'exception-is-uncaught': `
    it('does not clear a timer', async () => {
      setTimeout(() => { throw new Error('nobody catches'); }, 0);
      await new Promise((resolve) => setTimeout(resolve, 20));
    });`,
  'throws-at-import': `it('is declared', () => undefined); throw new Error('cannot load');`,
  'imports-what-is-absent': `await import('./absent.ts'); it('is declared', () => undefined);`,
  'has-no-test': `const empty = 1;`,
  'has-hooks-alone': `describe('a block', () => { beforeAll(() => undefined); });`,
  exits: `it('ends the process', () => process.exit(0));`,
};

type FileResult = {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
};

let folder: string;
let exitCode: unknown;
let results: readonly FileResult[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clinical-launch-planted-'));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('package.json', '{ "type": "module" }');
  write(
    'jest.config.js',
    `import ours from '${root}tests/jest.config.js';
     const project = { ...ours.projects[0], roots: ['${folder}'], testMatch: ['**/*.test.ts'] };
     export default { ...ours, testTimeout: 1000, projects: [project] };`,
  );
  mkdirSync(join(folder, 'test'));
  const globals = 'afterAll, afterEach, beforeAll, beforeEach, describe, expect, it';
  const imports = `import { ${globals} } from '@jest/globals';\n`;
  write('test/shared.ts', `${imports}export const describeShared = () => it('is shared', () => undefined);`);
  for (const [name, text] of Object.entries(planted)) write(`test/${name}.test.ts`, `${imports}${text}`);
  const output = join(folder, 'results.json');
  const jest = [`${root}node_modules/jest/bin/jest.js`, `--config=${folder}/jest.config.js`];
  exitCode = await new Promise((resolve, reject) => {
    const options = ['--json', `--outputFile=${output}`];
    const env = { ...process.env, FORCE_COLOR: '0' };
    execFile(process.execPath, [...jest, ...options], { env }, (error, _, written) => {
      if (existsSync(output)) resolve(error?.code ?? 0);
      else reject(new Error(`Jest wrote no results: ${error?.message} ${error?.signal} ${written}`));
    });
  });
  results = JSON.parse(readFileSync(output, 'utf8')).testResults;
});
afterAll(() => rmSync(folder, { recursive: true }));

function resultOf(name: keyof typeof planted): FileResult {
  const result = results.find((file) => file.name === join(folder, 'test', `${name}.test.ts`));
  if (result === undefined) throw new Error(`${name} has no result`);
  return result;
}

const titlesOf = (name: keyof typeof planted) =>
  resultOf(name).assertionResults.map(({ title, status }) => `${title}: ${status}`);

describe('a test file', () => {
  it('has the same results as with Jest’s own runtime', () => {
    expect(titlesOf('passes')).toEqual([
      'loads a project module: passed',
      'takes row 1: passed',
      'takes row 2: passed',
      'runs a: passed',
      'runs b: passed',
      'is shared: passed',
      'is to be written: todo',
      'is skipped: pending',
    ]);
    expect(titlesOf('shares-a-suite')).toEqual(['is shared: passed']);
    expect(titlesOf('only-one')).toEqual(['runs: passed', 'is not selected: pending']);
  });

  it('runs no further tests and hooks after a test or a hook waited too long', () => {
    expect(titlesOf('page-stays-away')).toEqual([
      'waits for an element: failed',
      'is not run after the time-out: pending',
    ]);
    expect(titlesOf('test-hangs')).toEqual(['never ends: failed', 'is not run after the time-out: pending']);
    expect(titlesOf('server-stays-away')).toEqual(['needs the server: failed', 'is not run: pending']);
  });

  it.each([
    ['assertion-fails', 'Expected: 2'],
    ['test-hangs', 'Exceeded timeout of 1000 ms for a test'],
    ['test-hangs-by-its-own-limit', 'Exceeded timeout of 50 ms for a test'],
    ['server-stays-away', 'waited for it'],
    ['hook-hangs', 'Exceeded timeout of 1000 ms for a hook'],
    ['after-all-fails', 'not stopped'],
    ['after-each-fails', 'not reset'],
    ['rejection-is-unhandled', 'nobody looks'],
    ['exception-is-uncaught', 'nobody catches'],
    ['throws-at-import', 'cannot load'],
    ['imports-what-is-absent', 'Cannot find module'],
    ['has-no-test', 'must contain at least one test'],
    ['has-hooks-alone', 'must contain at least one test'],
    ['exits', 'crashed'],
  ] as const)('named %s fails the run and reports: %s', (name, message) => {
    expect(exitCode).toBe(1);
    expect(resultOf(name)).toMatchObject({ status: 'failed', message: expect.stringContaining(message) });
  });

  it('reports the line of a test that hangs', () => {
    expect(resultOf('test-hangs').message).toContain("> 3 |     it('never ends'");
  });

  it('fails all tests of a block whose beforeAll failed, without running them', () => {
    expect(titlesOf('before-all-fails')).toEqual(['first: failed', 'second: failed']);
  });
});
