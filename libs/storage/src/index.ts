export * from './service-migration.ts';
export * from './sql-outbox.ts';
export type { DatabaseLevel, PoolLevel, Storage } from './storage.ts';
export { StorageUnavailable } from './storage-errors.ts';
