import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isUnitTest } from '../needs.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The paths of all test files, by tier. Every file belongs to one tier. */
export type TestFiles = {
  /** `npm run test:unit`: tests that need no server, no browser and no other process. */
  readonly unit: readonly string[];
  /** `npm test`, which also runs the unit tests: tests on real Redis, RabbitMQ and PostgreSQL. */
  readonly integration: readonly string[];
  /**
   * `npm run test:system`: tests of browsers, the edge, manifests, alert rules, commands, client libraries,
   * and services as processes.
   */
  readonly system: readonly string[];
  /** `npm run test:faults`: tests that kill processes under load. */
  readonly faults: readonly string[];
  /** `npm run test:cluster`: tests on a Kubernetes cluster. */
  readonly cluster: readonly string[];
};

/** Matches tests in any folder that need more than a service and its servers. */
const systemTest = /\/tests\/(?:system|clients)\/|\.browser\.test\.ts$|\/separated-play\.test\.ts$/;

function tierOf(path: string): keyof TestFiles {
  if (path.includes('/tests/cluster/')) return 'cluster';
  if (path.includes('/tests/faults/')) return 'faults';
  if (systemTest.test(path)) return 'system';
  return isUnitTest(path) ? 'unit' : 'integration';
}

/** Finds all test files and divides them into tiers. */
export function findTestFiles(): TestFiles {
  const paths = globSync(['{libs,services,sandbox,tools,tests}/**/*.test.ts'], {
    cwd: root,
    exclude: ['**/node_modules'],
  });
  const tiers = Object.groupBy(paths.map((path) => `${root}${path}`).toSorted(), tierOf);
  return { unit: [], integration: [], system: [], faults: [], cluster: [], ...tiers };
}
