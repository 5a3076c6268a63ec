import { Type } from '@clinical-launch/contracts/type';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import type { Refusals } from '@clinical-launch/http/refusals';
import type { Limits } from '@clinical-launch/limits/limits';
import { RedisLimits } from '@clinical-launch/limits/redis-limits';
import { createRefusals, readRefusalSettings } from '@clinical-launch/limits/refusals';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { assertSafeRedis, measureRedis } from '@clinical-launch/redis/redis-info';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { isProduction, readEnvironment } from '@clinical-launch/runtime/environment';
import { RedisTickets } from '@clinical-launch/tickets/redis-tickets';
import type { TicketSealers } from '@clinical-launch/tickets/ticket-format';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { countTickets, observeRedis } from './part-metrics.ts';
import type { PartOptions, RunningPart } from './parts.ts';

export type RedisLocation = {
  readonly redis: RedisClient;
  /** The prefix of all keys. With different prefixes, several systems can share one Redis. */
  readonly prefix?: string;
  readonly writeEvent: EventWriter;
};

/** The parts on Redis that every service needs. Services create further parts with the same `location`. */
export type RedisParts = RunningPart & {
  readonly location: RedisLocation;
  readonly tickets: Tickets;
  readonly limits: Limits;
  /** Limits and audits the refused requests of this process. */
  readonly refusals: Refusals;
};

export type RedisPartOptions = PartOptions & {
  readonly sealers?: TicketSealers;
  /**
   * Whether new claims are refused until every recorded claim is in Redis. True in services that issue
   * tickets with claims.
   */
  readonly requiresCompleteClaims?: boolean;
};

/** The settings of the connection to Redis, besides its address. */
export const redisSettings = Type.Object({
  REDIS_APPEND_ONLY_FILE: Type.Enum(['required', 'optional'], {
    default: 'required',
    title:
      '`optional`: production accepts a Redis without an append-only file, as some managed services have. A restart or failover of this Redis loses open launches, revocations of tokens and waiting events. A used launch URL may then work again.',
  }),
  REDIS_SERVICE_USERS: Type.Enum(['required', 'optional'], {
    default: 'required',
    title:
      '`optional`: production accepts a Redis user that several services share. An attacker who controls one service can then end launches, make used launch URLs work again, undo revocations and delete the waiting events of all services. Tickets and events stay encrypted and signed with the keys of each service.',
  }),
});

/** Connects to the Redis of `REDIS_URL`, and opens the tickets and limits that it stores. */
export async function openRedisParts(options: RedisPartOptions): Promise<RedisParts> {
  const { environment, clock, logger, eventKeys, sealers = {}, requiresCompleteClaims = false } = options;
  const redis = await connectRedis(environment.REDIS_URL ?? '', { logger });
  const { REDIS_APPEND_ONLY_FILE, REDIS_SERVICE_USERS } = readEnvironment(redisSettings, environment);
  const ownPrefix = environment.REDIS_PREFIX ? { prefix: environment.REDIS_PREFIX } : {};
  await assertSafeRedis(redis, {
    isProduction: isProduction(environment),
    acceptsVolatile: REDIS_APPEND_ONLY_FILE === 'optional',
    acceptsSharedUser: REDIS_SERVICE_USERS === 'optional',
    ...ownPrefix,
    logger,
  });
  observeRedis(() => measureRedis(redis));
  const location: RedisLocation = {
    redis,
    writeEvent: eventKeys.writeEvent,
    ...ownPrefix,
  };
  const { mostEvents, ...refusing } = readRefusalSettings(environment);
  const limits = new RedisLimits({ ...location, mostEvents });
  const refusals = createRefusals({ ...refusing, limits, clock, logger });
  return {
    location,
    tickets: countTickets(new RedisTickets({ ...location, sealers, logger, requiresCompleteClaims })),
    limits,
    refusals,
    checks: { redis: () => redis.ping().then(() => true) },
    async stop() {
      await refusals.stop();
      redis.disconnect();
    },
  };
}
