/** Everything that loads the Redis client, for processes with a Redis. */
export * from './connect-redis.ts';
export * from './limits/redis-limits.ts';
export * from './limits/redis-rates.ts';
export {
  connectionCommands,
  type RedisUser,
  redisAccess,
  redisAclFile,
} from './redis-access.ts';
export { RedisClaims } from './redis-claims.ts';
export { measureRedis, type RedisLevel } from './redis-level.ts';
export { RedisOutbox, type RedisOutboxDependencies } from './redis-outbox.ts';
export type { RedisClient } from './redis-scripts.ts';
export { RedisTickets, type RedisTicketsDependencies } from './redis-tickets.ts';
export { type WokenOutbox, wakeRelays } from './redis-wakes.ts';
export * from './revocations/redis-revoked-tokens.ts';
export * from './safe-redis.ts';
