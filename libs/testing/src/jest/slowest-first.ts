import { statSync } from 'node:fs';

type Test = { readonly path: string };

/** The files that take longer than ten seconds, from the longest: a fresh clone knows no times. */
const slowest = [
  'eight-actions.browser',
  'commands',
  'rabbitmq-restart',
  'production',
  'signals',
  'separation',
  'callbacks',
  'deliveries-command',
  'redis-cluster-tickets',
  'desktop-launch.browser',
  'migrate',
  'real-parts',
  'oltr-launch.browser',
  'delivery-replicas',
  'postgres-restart',
  'choose-tests.browser',
  'tenant-boundaries',
  'server-timeouts',
  'redis-tickets',
  'json-scan',
  'onboarding',
  'redis-faults',
  'postgres-storage',
];

/** Jest's `testSequencer`: long files first, so that no worker is left alone with one at the end. */
export default class SlowestFirst {
  sort(tests: readonly Test[]): Test[] {
    const ranked = tests.map((test) => ({ test, rank: rankOf(test.path), size: statSync(test.path).size }));
    return ranked
      .toSorted((one, other) => one.rank - other.rank || other.size - one.size)
      .map(({ test }) => test);
  }

  // What else Jest calls.
  shard(tests: readonly Test[]): readonly Test[] {
    return tests;
  }

  allFailedTests(): readonly Test[] {
    return [];
  }

  cacheResults(): void {}
}

function rankOf(path: string): number {
  const rank = slowest.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return rank < 0 ? slowest.length : rank;
}
