import { readFileSync } from 'node:fs';
import { root } from '../run-command.ts';

/**
 * Returns the Secrets that an operator must create for production, from the table in the overlay's README.
 */
export function secretsOfProduction(): (readonly [object: string, keys: readonly string[]])[] {
  const readme = readFileSync(`${root}k8s/overlays/production/README.md`, 'utf8');
  return [...readme.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, name = '', keys = '']) => [
    `Secret ${name}`,
    [...keys.matchAll(/`([a-z.-]+)`/g)].map(([, key = '']) => key),
  ]);
}
