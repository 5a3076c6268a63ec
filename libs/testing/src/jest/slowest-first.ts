import { statSync } from 'node:fs';

type Test = { readonly path: string };

/**
 * The test files that take seven seconds or longer. They are listed here, because a fresh clone has no
 * recorded times. The bench, Firefox and embedded databases need most of the memory. The bench and Firefox
 * run one after the other, in parallel with files that need little memory, before the workers grow.
 * No browser runs in parallel with embedded databases. Files that wait for servers run in parallel with
 * browsers, which use both cores.
 */
const slowest = [
  'bench',
  'redis-cluster-tickets',
  'redis-tickets',
  'revoked-tokens',
  'eight-actions.browser',
  'delivery-replicas',
  'traces',
  'process',
  'partner-conformance',
  'twin-package',
  'examples',
  'pms-conformance',
  'rabbitmq-restart',
  'rabbitmq-bus',
  'callbacks',
  'production',
  'commands',
  'real-parts',
  'signals',
  'audit-refusals.browser',
  'manifests',
  'audit-pages.browser',
  'postgres-restart',
  'quick-order.browser',
  'leaks',
  'oltr-launch.browser',
  'desktop-launch.browser',
  'choose-tests.browser',
  'print-request.browser',
  'generated-pages.browser',
  'save-review.browser',
  'safety.browser',
  'window-lock.browser',
  'window-sequences.browser',
];

/** Jest's `testSequencer`: runs long files first, so that no long file runs alone at the end. */
export default class SlowestFirst {
  sort(tests: readonly Test[]): Test[] {
    const ranked = tests.map((test) => ({ test, rank: rankOf(test.path), size: statSync(test.path).size }));
    return ranked
      .toSorted((one, other) => one.rank - other.rank || other.size - one.size)
      .map(({ test }) => test);
  }

  // Jest also calls these methods.
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
