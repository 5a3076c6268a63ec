import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createEmbeddedDatabase, preparedDatabase } from './embedded-storage.ts';

// Prepares the empty database that each embedded storage copies. The file gets its final name only when it is
// complete, so that simultaneous starts never read half of it.
const database = await createEmbeddedDatabase();
const copy = await database.dumpDataDir('gzip');
const written = new URL(`pglite.${process.pid}`, preparedDatabase);
await mkdir(new URL('.', preparedDatabase), { recursive: true });
await writeFile(written, copy.stream());
await rename(written, preparedDatabase);
await database.close();
