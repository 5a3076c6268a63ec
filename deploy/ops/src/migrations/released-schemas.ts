import { readFileSync } from 'node:fs';
import type { ReleasedSchemas } from './check-migrations.ts';

/** The description of the newest release, written by `npm run schemas`. */
export const releasedSchemasFile = new URL('released-schemas.json', import.meta.url);

/** Reads what the newest release offers. */
export const releasedSchemas = (): ReleasedSchemas => JSON.parse(readFileSync(releasedSchemasFile, 'utf8'));
