import { statSync } from 'node:fs';

type Test = { readonly path: string };

/**
 * The files that take nine seconds or longer, about from the longest: a fresh clone knows no times. Firefox
 * begins the first, so what needs little memory is next.
 */
const slowest = [
  'eight-actions.browser',
  'redis-cluster-tickets',
  'rabbitmq-restart',
  'real-parts',
  'bench',
  'commands',
  'audit-refusals.browser',
  'quick-order.browser',
  'production',
  'callbacks',
  'audit-pages.browser',
  'signals',
  'manifests',
  'desktop-launch.browser',
  'oltr-launch.browser',
  'traces',
  'safety.browser',
  'choose-tests.browser',
  'rabbitmq-bus',
  'print-request.browser',
  'process',
  'generated-pages.browser',
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
