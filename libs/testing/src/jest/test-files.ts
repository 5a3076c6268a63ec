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
  /**
   * One at a time, after all others: the fault tests kill processes under load and measure how fast the
   * others answer, and each starts every service as a process of its own.
   */
  readonly alone: readonly string[];
  /** On a Kubernetes cluster, by a command of their own. */
  readonly cluster: readonly string[];
};

const isAlone = (path: string) => /\.faults\.test\.ts$|\/separated-play\.test\.ts$/.test(path);

/** Finds all test files and divides them. */
export function findTestFiles(): TestFiles {
  const paths = globSync(['{libs,services,deploy}/**/*.test.ts'], {
    cwd: root,
    exclude: ['**/node_modules'],
  });
  const kinds = Object.groupBy(paths.map((path) => `${root}${path}`).toSorted(), (path) => {
    if (path.includes('/deploy/tests/cluster/')) return 'cluster';
    if (isAlone(path)) return 'alone';
    return isUnitTest(path) ? 'unit' : 'integration';
  });
  return { unit: [], integration: [], alone: [], cluster: [], ...kinds };
}
