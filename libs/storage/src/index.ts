export * from './sql-outbox.ts';
export type { Storage } from './storage.ts';
export { StorageUnavailable } from './storage-errors.ts';
