import { setTimeout as delay } from 'node:timers/promises';
import { provision } from '../provision.ts';
import { openRunFolder } from './run-folder.ts';
import { findTestFiles } from './test-files.ts';

/** What Jest hands over, as far as it is read here. */
type GlobalConfig = { readonly testPathPatterns: { readonly patterns: readonly string[] } };

let end: (() => Promise<void>) | undefined;

/** Jest's `globalSetup`: what the tests of this run need, and no more. */
export default async function setUp({ testPathPatterns }: GlobalConfig): Promise<void> {
  const folder = openRunFolder();
  const patterns = testPathPatterns.patterns.map((pattern) => new RegExp(pattern, 'i'));
  const files = findTestFiles().integration.filter(
    (file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(file)),
  );
  const provided = await provision(files);
  end = async () => {
    await provided.stop();
    await assertNothingLeft(() => folder.leftovers());
  };
}

/**
 * Ends what `setUp` started.
 * @throws Error that names the processes that tests started and did not end.
 */
export async function tearDown(): Promise<void> {
  await end?.();
}

const endsWithinMs = 5000;

async function assertNothingLeft(leftovers: () => readonly string[]): Promise<void> {
  for (const deadline = Date.now() + endsWithinMs; leftovers().length > 0; await delay(50)) {
    if (Date.now() > deadline) throw new Error(`Tests left processes behind:\n${leftovers().join('\n')}`);
  }
}
