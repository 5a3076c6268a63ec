export * from './sql-outbox.ts';
export * from './storage.ts';
