import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createEmbeddedDatabase, preparedDatabase } from './embedded-storage.ts';

// Prepares the empty database of which each embedded storage is a copy. A file is complete when it has its
// name, so that starts beside each other do not read half of one.
const database = await createEmbeddedDatabase();
const copy = await database.dumpDataDir('gzip');
const written = new URL(`pglite.${process.pid}`, preparedDatabase);
await mkdir(new URL('.', preparedDatabase), { recursive: true });
await writeFile(written, copy.stream());
await rename(written, preparedDatabase);
await database.close();
