import { readFileSync } from 'node:fs';

/** The release of this process. */
export const { version: release } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string };
