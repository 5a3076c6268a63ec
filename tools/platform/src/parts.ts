import type { EventBus, Outbox } from '@clinical-launch/events/event-bus';
import { InProcessBus } from '@clinical-launch/events/in-process-bus';
import type { Refusals } from '@clinical-launch/http/refusals';
import { type Attempts, createAttempts } from '@clinical-launch/limits/attempts';
import { InMemoryLimits } from '@clinical-launch/limits/in-memory-limits';
import { createRateLimiter, type RateLimiter } from '@clinical-launch/limits/rate-limit';
import { createRefusals, readRefusalSettings } from '@clinical-launch/limits/refusals';
import { countTickets } from '@clinical-launch/process/part-metrics';
import type { PartOptions, RunningPart } from '@clinical-launch/process/parts';
import type { StoragePart } from '@clinical-launch/process/postgres-part';
import type { BusPart } from '@clinical-launch/process/rabbitmq-part';
import type { RedisPartOptions } from '@clinical-launch/process/redis-parts';
import type { Logger } from '@clinical-launch/runtime/logger';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded-storage';
import type { Chains, Once } from '@clinical-launch/tickets/chains';
import type { Claims } from '@clinical-launch/tickets/claims';
import { createInMemoryTickets } from '@clinical-launch/tickets/in-memory-tickets';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { InMemoryRevokedTokens } from '@clinical-launch/trust/in-memory-revoked-tokens';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';

// The client library of a server is loaded only if the variable of the server is set. Each library costs a
// tenth of the start time and of the memory.

export type TicketParts = RunningPart & {
  readonly dependencies: {
    readonly tickets: Tickets;
    readonly chains: Chains;
    readonly once: Once;
    readonly events: Outbox;
    readonly claims: Claims;
    readonly revokedTokens: RevokedTokens;
    readonly endedSessions: RevokedTokens;
    readonly limiter: RateLimiter;
    readonly attempts: Attempts;
  };
  readonly refusals: Refusals;
  /** Starts publishing events from the outboxes to the bus, until the returned part is stopped. */
  readonly startRelay: () => RunningPart;
};

type TicketPartOptions = RedisPartOptions & { readonly bus: EventBus };

/** Opens the tickets in Redis, or in memory if `REDIS_URL` is not set. In memory, the bus is the outbox. */
export const chooseTicketParts = (options: TicketPartOptions): Promise<TicketParts> =>
  options.environment.REDIS_URL ? openOnRedis(options) : Promise.resolve(createInMemory(options));

async function openOnRedis(options: TicketPartOptions): Promise<TicketParts> {
  const [
    { openRedisParts },
    { openRedisOutbox, startRedisRelays },
    { RedisChains, RedisOnce },
    { RedisClaims },
    { RedisRevokedTokens },
    { createSharedRateLimiter },
  ] = await Promise.all([
    import('@clinical-launch/process/redis-parts'),
    import('@clinical-launch/process/redis-relays'),
    import('@clinical-launch/tickets/redis-chains'),
    import('@clinical-launch/tickets/redis-claims'),
    import('@clinical-launch/trust/redis-revoked-tokens'),
    import('@clinical-launch/limits/shared-rate-limit'),
  ]);
  const parts = await openRedisParts(options);
  const { location, limits } = parts;
  const claims = new RedisClaims(location);
  return {
    dependencies: {
      tickets: parts.tickets,
      chains: new RedisChains(location),
      once: new RedisOnce(location),
      events: openRedisOutbox(parts, options),
      claims,
      revokedTokens: new RedisRevokedTokens(location),
      endedSessions: new RedisRevokedTokens({ ...location, list: 'ended-sessions' }),
      limiter: createSharedRateLimiter({ ...location, service: options.name }),
      attempts: createAttempts({ ...options, limits }),
    },
    refusals: parts.refusals,
    checks: { ...parts.checks, claims: () => claims.areComplete() },
    startRelay: () => startRedisRelays(parts, options.bus, options),
    stop: () => parts.stop(),
  };
}

function createInMemory({ environment, clock, logger, bus }: TicketPartOptions): TicketParts {
  const outbox: Outbox = { append: (events) => bus.publish(events) };
  const { tickets, ...others } = createInMemoryTickets({ clock, outbox });
  const { mostEvents, ...refusing } = readRefusalSettings(environment);
  const limits = new InMemoryLimits({ clock, outbox, mostEvents });
  const refusals = createRefusals({ ...refusing, limits, clock, logger });
  return {
    dependencies: {
      ...others,
      tickets: countTickets(tickets),
      events: outbox,
      revokedTokens: new InMemoryRevokedTokens({ clock, outbox }),
      endedSessions: new InMemoryRevokedTokens({ clock, outbox }),
      limiter: createRateLimiter(clock),
      attempts: createAttempts({ limits, clock, logger }),
    },
    refusals,
    checks: {},
    startRelay: () => ({ checks: {}, stop: async () => undefined }),
    stop: () => refusals.stop(),
  };
}

/** Opens the event bus on RabbitMQ, or within the process if `AMQP_URL` is not set. */
export async function chooseBus(options: PartOptions): Promise<BusPart> {
  if (!options.environment.AMQP_URL) return createBus(options.logger);
  const { openRabbitMq } = await import('@clinical-launch/process/rabbitmq-part');
  return openRabbitMq(options);
}

/** Opens the PostgreSQL database, or an embedded database in memory if `DATABASE_URL` is not set. */
export async function chooseStorage(options: PartOptions): Promise<StoragePart> {
  if (options.environment.DATABASE_URL) {
    const { openPostgres } = await import('@clinical-launch/process/postgres-part');
    return openPostgres(options);
  }
  const storage = await openEmbeddedStorage();
  return { storage, checks: { database: () => storage.isReady() }, stop: () => storage.close() };
}

function createBus(logger: Logger): BusPart {
  const bus = new InProcessBus({
    onDeadLetter: ({ consumer, event: { id, type, correlationid }, error }) =>
      logger.error({ consumer, eventId: id, type, correlationId: correlationid, err: error }, 'dead letter'),
  });
  return { bus, checks: {}, stop: () => bus.stop() };
}
