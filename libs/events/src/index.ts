export * from './event-bus.ts';
export * from './in-memory-outbox.ts';
export * from './in-process-bus.ts';
export * from './relay.ts';
