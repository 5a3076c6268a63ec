export * from './claims.ts';
export * from './connect-redis.ts';
export * from './in-memory-tickets.ts';
export * from './limits/in-memory-limits.ts';
export * from './limits/limits.ts';
export * from './limits/redis-limits.ts';
export * from './limits/redis-rates.ts';
export {
  connectionCommands,
  type RedisUser,
  redisAccess,
  redisAclFile,
} from './redis-access.ts';
export { RedisClaims } from './redis-claims.ts';
export { RedisOutbox, type RedisOutboxDependencies } from './redis-outbox.ts';
export type { RedisClient } from './redis-scripts.ts';
export { RedisTickets, type RedisTicketsDependencies } from './redis-tickets.ts';
export * from './revocations/in-memory-revoked-tokens.ts';
export * from './revocations/redis-revoked-tokens.ts';
export * from './revocations/revoked-tokens.ts';
export * from './safe-redis.ts';
export type { TicketSealers } from './ticket-seals.ts';
export * from './tickets.ts';
