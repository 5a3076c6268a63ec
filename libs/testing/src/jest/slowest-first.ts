import { statSync } from 'node:fs';

type Test = { readonly path: string };

/**
 * The files that take seven seconds or longer, about from the longest: a fresh clone knows no times. Firefox
 * begins the first. What runs beside it, and then beside the bench, needs little memory.
 */
const slowest = [
  'eight-actions.browser',
  'redis-cluster-tickets',
  'traces',
  'delivery-replicas',
  'process',
  'real-parts',
  'rabbitmq-restart',
  'bench',
  'rabbitmq-bus',
  'redis-tickets',
  'revoked-tokens',
  'commands',
  'callbacks',
  'audit-refusals.browser',
  'signals',
  'quick-order.browser',
  'production',
  'audit-pages.browser',
  'oltr-launch.browser',
  'desktop-launch.browser',
  'postgres-restart',
  'save-review.browser',
  'choose-tests.browser',
  'manifests',
  'print-request.browser',
  'leaks',
  'generated-pages.browser',
  'safety.browser',
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
