import { globSync } from 'node:fs';
import { provision } from '../provision.ts';
import { provideStorageImage } from '../test-storage.ts';

/** What Jest hands over, as far as it is read here. */
type GlobalConfig = { readonly testPathPatterns: { readonly patterns: readonly string[] } };
type ProjectConfig = { readonly roots: readonly string[]; readonly testMatch: readonly string[] };

const started: { stop(): Promise<void> }[] = [];

/** Jest's `globalSetup`: what the tests of this run need, and no more. */
export default async function setUp(
  { testPathPatterns }: GlobalConfig,
  { roots, testMatch }: ProjectConfig,
): Promise<void> {
  const patterns = testPathPatterns.patterns.map((pattern) => new RegExp(pattern, 'i'));
  const files = roots
    .flatMap((root) =>
      testMatch.flatMap((glob) => globSync(`${root}/${glob}`, { exclude: ['**/node_modules'] })),
    )
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(file)));
  started.push(...(await Promise.all([provision(files), provideStorageImage()])));
}

/** Ends what `setUp` started. */
export async function tearDown(): Promise<void> {
  for (const provided of started.splice(0)) await provided.stop();
}
