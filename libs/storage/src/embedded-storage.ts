import { setFlagsFromString } from 'node:v8';
import { PGlite, types } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { type Storage, storageOn } from './storage.ts';
import { hideValues } from './storage-errors.ts';

/**
 * Opens an embedded PostgreSQL (PGlite, WebAssembly) in this process's memory, which ends with it. It has one
 * connection: transactions run one after the other.
 */
export async function openEmbeddedStorage(): Promise<Storage> {
  // Optimised code for all of PostgreSQL would take 400 MB and a second at the start, for a few small
  // queries.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
  // int8 as a string, as in the pg driver: a count must not change its type with the database.
  const pglite = await PGlite.create({ parsers: { [types.INT8]: (value) => value } });
  return storageOn(
    new Kysely<Record<never, never>>({
      dialect: new PGliteDialect({ pglite, onCreateConnection: hideValues }),
    }),
  );
}
