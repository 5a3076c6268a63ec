export * from './connect-redis.ts';
export * from './in-memory-tickets.ts';
export { RedisOutbox, type RedisOutboxBacking } from './redis-outbox.ts';
export type { RedisClient } from './redis-scripts.ts';
export { RedisTickets, type RedisTicketsBacking } from './redis-tickets.ts';
export * from './safe-redis.ts';
export * from './tickets.ts';
