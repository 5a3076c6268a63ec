import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

// Runs the tests of a tier. Runs failed files a second time, one after another: in the first run, browsers
// and two hundred processes may share two cores. A test that passes only in the second run is listed as
// flaky, because it still has a fault.

type FileResult = {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
};

const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-results-'));
const node = ['--max-semi-space-size=8', 'node_modules/jest/bin/jest.js', '--config=tests/jest.config.js'];

/** Runs Jest, and returns its exit code and the failed files. */
function run(name: string, options: readonly string[]) {
  const output = join(folder, name);
  const written = ['--json', `--outputFile=${output}`];
  const { status, signal } = spawnSync(process.execPath, [...node, ...written, ...options], {
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  // Jest exits with 1 both for failed tests and for a failed setup, which writes no results.
  const failed = signal === null ? failedIn(output) : [];
  return { status: status ?? 1, failed };
}

function failedIn(output: string): readonly FileResult[] {
  try {
    const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as {
      testResults: readonly FileResult[];
    };
    return testResults.filter(({ status }) => status === 'failed');
  } catch {
    return [];
  }
}

const first = run('first.json', process.argv.slice(2));
let exitCode = first.status;
if (first.failed.length > 0) {
  const files = first.failed.map(({ name }) => name);
  process.stderr.write(`\nRunning failed files again, alone:\n${files.join('\n')}\n\n`);
  exitCode = run('second.json', ['--maxWorkers=1', '--runTestsByPath', ...files]).status;
  if (exitCode === 0) {
    for (const { name, assertionResults } of first.failed) {
      const titles = assertionResults.filter(({ status }) => status === 'failed');
      for (const { fullName } of titles.length > 0 ? titles : [{ fullName: 'the whole file' }])
        process.stderr.write(`flaky: ${relative('.', name)}: ${fullName}\n`);
    }
  }
}
rmSync(folder, { recursive: true });
process.exitCode = exitCode;
