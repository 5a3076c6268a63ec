import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Catalogue, catalogueError, parseCatalogue } from './domain/catalogue.ts';
import { type Catalogues, createCatalogues } from './domain/catalogues.ts';

const shipped = fileURLToPath(new URL('../catalogue/catalogue.json', import.meta.url));

/**
 * Reads a catalogue file. Without a path, reads the catalogue that ships with this service.
 * @throws Error if the file cannot be read; TypeError that lists every error if the catalogue is invalid
 */
export function readCatalogue(path: string = shipped): Catalogue {
  return parseCatalogue(JSON.parse(readFileSync(path, 'utf8')));
}

/**
 * Reads one catalogue file, or every file of a folder whose name ends in `.json`.
 * @throws Error if a file cannot be read; TypeError that lists every error if a catalogue is invalid
 */
export function readCatalogues(path: string = shipped): Catalogues {
  if (!statSync(path).isDirectory()) return createCatalogues([readCatalogue(path)]);
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  if (names.length === 0) throw catalogueError(['the folder has no file whose name ends in .json']);
  return createCatalogues(names.toSorted().map((name) => readNamed(path, name)));
}

/** Reads one catalogue file of a folder. @throws TypeError that names the file */
function readNamed(folder: string, name: string): Catalogue {
  try {
    return readCatalogue(join(folder, name));
  } catch (cause) {
    const reason = cause instanceof TypeError ? cause.message : 'cannot be read as JSON';
    throw new TypeError(`${name}: ${reason}`, { cause });
  }
}
