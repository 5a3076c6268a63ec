export * from './in-memory-tickets.ts';
export * from './tickets.ts';
