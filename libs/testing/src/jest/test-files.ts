import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isUnitTest } from '../needs.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The paths of all test files, by the way they run. */
export type TestFiles = {
  /** No server, no browser, no other process. */
  readonly unit: readonly string[];
  /** On the servers of the run, or on what they start. */
  readonly integration: readonly string[];
  /** One at a time, after all others: they kill processes under load and measure how fast the others answer. */
  readonly faults: readonly string[];
};

/** Finds all test files and divides them. */
export function findTestFiles(): TestFiles {
  const paths = globSync(['{libs,services,deploy}/**/*.test.ts'], {
    cwd: root,
    exclude: ['**/node_modules'],
  });
  const kinds = Object.groupBy(paths.map((path) => `${root}${path}`).toSorted(), (path) => {
    if (path.endsWith('.faults.test.ts')) return 'faults';
    return isUnitTest(path) ? 'unit' : 'integration';
  });
  return { unit: [], integration: [], faults: [], ...kinds };
}
