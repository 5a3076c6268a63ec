import { readFileSync } from 'node:fs';
import { type Catalogue, parseCatalogue } from './domain/catalogue.ts';

const shipped = new URL('../catalogue/catalogue.json', import.meta.url);

/**
 * Reads a catalogue file; without a path, the one that ships with this service.
 * @throws Error when it cannot be read, TypeError that lists every fault when it cannot be used.
 */
export function readCatalogue(path: string | URL = shipped): Catalogue {
  return parseCatalogue(JSON.parse(readFileSync(path, 'utf8')));
}
