/** Everything that loads the PostgreSQL client, for processes with a real database. */
export * from './database-roles.ts';
export * from './postgres-storage.ts';
export type { SchemaWait } from './storage.ts';
