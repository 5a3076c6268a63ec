import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { PGlite, type PGliteOptions, types } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { statementSpans } from './statement-spans.ts';
import { type Storage, storageOn } from './storage.ts';
import { hideValues } from './storage-errors.ts';

/** An empty database, created in advance (see prepare-embedded.ts). */
export const preparedDatabase = new URL('../../../.cache/pglite.tar.gz', import.meta.url);

/**
 * Reduces memory: by default, PostgreSQL reserves 128 MB for pages and keeps 80 MB of its write-ahead log,
 * both in the memory of this process.
 */
const settings = ['shared_buffers=8MB', 'min_wal_size=2MB', 'max_wal_size=16MB'];

/**
 * Opens an embedded PostgreSQL (PGlite, WebAssembly) in this process's memory. Its data is lost when the
 * process ends. It has one connection, so transactions run one after the other.
 */
export async function openEmbeddedStorage(): Promise<Storage> {
  const pglite = await openPrepared().catch(() => createEmbeddedDatabase());
  return storageOn(
    new Kysely<Record<never, never>>({
      dialect: new PGliteDialect({ pglite, onCreateConnection: hideValues }),
      ...statementSpans(),
    }),
  );
}

/** Opens a copy of the prepared database, which saves two seconds and 400 MiB. */
async function openPrepared(): Promise<PGlite> {
  return createEmbeddedDatabase({
    loadDataDir: new Blob([await readFile(preparedDatabase)], { type: 'application/x-gzip' }),
  });
}

/** Creates an embedded database, or opens a copy of a database (`loadDataDir`). */
export async function createEmbeddedDatabase(options: PGliteOptions = {}): Promise<PGlite> {
  // Stops V8 from optimising the WebAssembly code, which would take 400 MB and a second at the start, for
  // only a few small queries.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
  return PGlite.create({
    // Returns int8 as a string, as the pg driver does, so that a count has the same type on both databases.
    parsers: { [types.INT8]: (value: string) => value },
    initDbStartParams: ['--wal-segsize=1'],
    startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
    ...options,
  });
}
