import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type UnshownEvidence, writeUnshown } from '@clinical-launch/testing/jest/evidence-reporter';

// Runs the tests of a tier. Runs failed files a second time, one after another: in the first run, browsers
// and two hundred processes may share two cores. If all these files then pass, lists the tests that failed in
// the first run as flaky, because they still have a fault.

type FileResult = {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
};

type Results = {
  readonly testResults: readonly FileResult[];
  readonly unshownEvidence?: readonly UnshownEvidence[];
};

const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-results-'));
const node = ['--max-semi-space-size=8', 'node_modules/jest/bin/jest.js', '--config=tests/jest.config.js'];

/** Runs Jest. Returns its exit code, the failed files, and the evidence that no passed test shows. */
function run(name: string, options: readonly string[]) {
  const output = join(folder, name);
  const written = ['--json', `--outputFile=${output}`];
  const { status, signal } = spawnSync(process.execPath, [...node, ...written, ...options], {
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  // Jest exits with 1 both for failed tests and for a failed setup, which writes no results.
  const { testResults, unshownEvidence = [] } = signal === null ? read(output) : { testResults: [] };
  const failed = testResults.filter((file) => file.status === 'failed');
  return { status: status ?? 1, failed, unshownEvidence };
}

function read(output: string): Results {
  try {
    return JSON.parse(readFileSync(output, 'utf8'));
  } catch {
    return { testResults: [] };
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
  // The second run checks only the evidence in its own files.
  const remaining = first.unshownEvidence.filter(({ file }) => !files.includes(file));
  writeUnshown(remaining);
  if (remaining.length > 0) exitCode = 1;
}
rmSync(folder, { recursive: true });
process.exitCode = exitCode;
