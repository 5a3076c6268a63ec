import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../jest/run-folder.ts';

const file = 'used-secrets';

/** Writes the secrets that a test file used, for the search at the end of the run. */
export function writeUsedSecrets(secrets: readonly string[]): void {
  const folder = runFolder();
  if (folder !== undefined)
    appendFileSync(join(folder, file), secrets.map((secret) => `${secret}\n`).join(''));
}

/** Returns the secrets that the test files of this run used. */
export function readUsedSecrets(): string[] {
  const path = join(runFolder() ?? '', file);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}
