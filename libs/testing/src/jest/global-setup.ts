import { globSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { provision } from '../provision.ts';
import { openRunFolder } from './run-folder.ts';

/** What Jest hands over, as far as it is read here. */
type GlobalConfig = { readonly testPathPatterns: { readonly patterns: readonly string[] } };
type ProjectConfig = { readonly roots: readonly string[]; readonly testMatch: readonly string[] };

let run: { readonly end: () => Promise<void> } | undefined;

/** Jest's `globalSetup`: what the tests of this run need, and no more. */
export default async function setUp(
  { testPathPatterns }: GlobalConfig,
  { roots, testMatch }: ProjectConfig,
): Promise<void> {
  const folder = openRunFolder();
  const patterns = testPathPatterns.patterns.map((pattern) => new RegExp(pattern, 'i'));
  const files = roots
    .flatMap((root) =>
      testMatch.flatMap((glob) => globSync(`${root}/${glob}`, { exclude: ['**/node_modules'] })),
    )
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(file)));
  const provided = await provision(files);
  run = {
    async end() {
      await provided.stop();
      await assertNothingLeft(() => folder.leftovers());
    },
  };
}

/**
 * Ends what `setUp` started.
 * @throws Error that names the processes that tests started and did not end.
 */
export async function tearDown(): Promise<void> {
  await run?.end();
}

const endsWithinMs = 5000;

async function assertNothingLeft(leftovers: () => readonly string[]): Promise<void> {
  for (const deadline = Date.now() + endsWithinMs; leftovers().length > 0; await delay(50)) {
    if (Date.now() > deadline) throw new Error(`Tests left processes behind:\n${leftovers().join('\n')}`);
  }
}
