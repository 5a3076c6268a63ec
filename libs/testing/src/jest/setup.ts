import { type Provision, provision } from '../provision.ts';
import { openRunFolder } from './run-folder.ts';
import { findTestFiles } from './test-files.ts';

/** The part of Jest's configuration that this module reads. */
type GlobalConfig = { readonly testPathPatterns: { readonly patterns: readonly string[] } };

let provided: Provision | undefined;

/** Jest's `globalSetup`: creates the folder of the run, and starts only the servers that its tests need. */
export default async function setUp({ testPathPatterns }: GlobalConfig): Promise<void> {
  openRunFolder();
  const patterns = testPathPatterns.patterns.map((pattern) => new RegExp(pattern, 'i'));
  const { integration, system, faults } = findTestFiles();
  const files = { test: integration, system, faults }[process.env['TESTS'] ?? 'test'] ?? [];
  const isWanted = (file: string) => patterns.length === 0 || patterns.some((pattern) => pattern.test(file));
  provided = await provision(files.filter(isWanted));
}

/** Ends the servers. */
export async function stopServers(): Promise<void> {
  await provided?.stop();
}
