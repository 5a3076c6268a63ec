export * from './database-roles.ts';
export * from './postgres-storage.ts';
export * from './sql-outbox.ts';
export { openEmbeddedStorage, type Storage } from './storage.ts';
export { StorageUnavailable } from './storage-errors.ts';
