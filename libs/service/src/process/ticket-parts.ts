import type { Outbox } from '@clinical-launch/events/event-bus';
import { InMemoryOutbox } from '@clinical-launch/events/in-memory-outbox';
import type { Relay } from '@clinical-launch/events/relay';
import { type Claims, InMemoryClaims } from '@clinical-launch/tickets/claims';
import { InMemoryTickets } from '@clinical-launch/tickets/in-memory-tickets';
import { InMemoryLimits } from '@clinical-launch/tickets/limits/in-memory-limits';
import type { Limits } from '@clinical-launch/tickets/limits/limits';
import { InMemoryRevokedTokens } from '@clinical-launch/tickets/revocations/in-memory-revoked-tokens';
import type { RevokedTokens } from '@clinical-launch/tickets/revocations/revoked-tokens';
import type { TicketSealers } from '@clinical-launch/tickets/ticket-seals';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { createRateLimiter, type RateLimiter } from '../http/rate-limit.ts';
import type { Refusals } from '../http/refusals.ts';
import { isProduction } from '../mode.ts';
import type { Attempts } from '../trust/attempts.ts';
import { createAttempts } from './attempts.ts';
import type { PartOptions, RunningPart } from './part.ts';
import { observeRedis } from './part-metrics.ts';
import { readRefusalSettings } from './refusal-settings.ts';
import { createRefusals } from './refusals.ts';
import { reportRejectedEvents } from './rejected-events.ts';
import { createSharedRateLimiter } from './shared-rate-limit.ts';
import { countTickets } from './ticket-metrics.ts';
import { type RelayTarget, startMemoryRelays, startRedisRelays } from './ticket-relays.ts';

export type TicketParts = RunningPart & {
  readonly tickets: Tickets;
  readonly outbox: Outbox;
  /** The claims of the tickets, for the service that records them. */
  readonly claims: Claims;
  /** The access tokens that their clients revoked. */
  readonly revokedTokens: RevokedTokens;
  /** The sessions of staff that were ended by signing out. */
  readonly endedSessions: RevokedTokens;
  /** Counts the requests of clients that have a limit, for all replicas. */
  readonly limiter: RateLimiter;
  /** Slows down failed attempts to authenticate. */
  readonly attempts: Attempts;
  /** Limits and audits the refusals of this process. */
  readonly refusals: Refusals;
  /** Moves the outbox to the bus from now on; `stop` ends it with a last look. */
  startRelay(bus: RelayTarget): void;
};

type TicketPartOptions = PartOptions & {
  /** The sealers of the kinds of tickets that this process works with. */
  readonly sealers?: TicketSealers;
  /**
   * Refuses claims, and is not ready, until all recorded claims are held. For services that issue tickets
   * with claims.
   */
  readonly requiresCompleteClaims?: boolean;
};

/** Opens tickets, limits and the outboxes of their events: on Redis, or in memory without `REDIS_URL`. */
export function openTicketParts(options: TicketPartOptions): Promise<TicketParts> {
  const { REDIS_URL: url } = options.environment;
  return url ? openRedisParts(options, url) : Promise.resolve(createEmbeddedParts(options));
}

function createEmbeddedParts(options: TicketPartOptions): TicketParts {
  const { clock, logger } = options;
  const relays: Relay[] = [];
  const createOutbox = () => new InMemoryOutbox(() => relays.forEach((relay) => relay.nudge()));
  const [outbox, refused] = [createOutbox(), createOutbox()];
  const tickets = new InMemoryTickets({ clock, outbox });
  const limited = limitParts(
    options,
    ({ mostEvents }) => new InMemoryLimits({ clock, outbox: refused, mostEvents }),
  );
  const { refusals } = limited;
  return {
    tickets: countTickets(tickets),
    outbox,
    claims: new InMemoryClaims(tickets),
    revokedTokens: new InMemoryRevokedTokens({ clock, outbox }),
    endedSessions: new InMemoryRevokedTokens({ clock, outbox }),
    limiter: createRateLimiter(clock),
    ...limited,
    checks: {},
    startRelay: (bus) =>
      void relays.push(...startMemoryRelays({ tickets: outbox, refusals: refused }, { bus, logger })),
    stop: () => stopAll({ refusals, relays }),
  };
}

async function openRedisParts(options: TicketPartOptions, url: string): Promise<TicketParts> {
  const { environment, logger, eventKeys, sealers = {}, requiresCompleteClaims = false } = options;
  const {
    assertSafeRedis,
    connectRedis,
    measureRedis,
    RedisClaims,
    RedisLimits,
    RedisOutbox,
    RedisRates,
    RedisRevokedTokens,
    RedisTickets,
    wakeRelays,
  } = await import('@clinical-launch/tickets/redis');
  const redis = await connectRedis(url, { logger });
  await assertSafeRedis(redis, { isProduction: isProduction(environment), logger });
  observeRedis(() => measureRedis(redis));
  // A prefix of its own lets several systems share one Redis.
  const place = { redis, ...(environment.REDIS_PREFIX ? { prefix: environment.REDIS_PREFIX } : {}) };
  const { writeEvent } = eventKeys;
  const outbox = new RedisOutbox({
    ...place,
    writeEvent,
    onRejected: reportRejectedEvents('tickets', logger),
  });
  const onRejected = reportRejectedEvents('refusals', logger);
  const refused = new RedisOutbox({ ...place, stream: 'refused', writeEvent, onRejected });
  const claims = new RedisClaims(place);
  const relays: Pick<Relay, 'stop'>[] = [];
  const limited = limitParts(
    options,
    ({ mostEvents }) => new RedisLimits({ ...place, mostEvents, writeEvent }),
  );
  const { refusals } = limited;
  return {
    tickets: countTickets(
      new RedisTickets({ ...place, sealers, logger, requiresCompleteClaims, writeEvent }),
    ),
    outbox,
    claims,
    revokedTokens: new RedisRevokedTokens({ ...place, writeEvent }),
    endedSessions: new RedisRevokedTokens({ ...place, list: 'ended-sessions' }),
    limiter: createSharedRateLimiter(new RedisRates({ ...place, service: options.name })),
    ...limited,
    checks: {
      redis: () => redis.ping().then(() => true),
      ...(requiresCompleteClaims ? { claims: () => claims.areComplete() } : {}),
    },
    startRelay(bus) {
      const outboxes = { tickets: outbox, refusals: refused };
      relays.push(...startRedisRelays(outboxes, { bus, logger, wake: (woken) => wakeRelays(redis, woken) }));
    },
    async stop() {
      await stopAll({ refusals, relays });
      redis.disconnect();
    },
  };
}

function limitParts(
  { environment, clock, logger }: PartOptions,
  createLimits: (settings: { readonly mostEvents: number }) => Limits,
) {
  const { limit, combineSeconds, mostEvents } = readRefusalSettings(environment);
  const limits = createLimits({ mostEvents });
  return {
    attempts: createAttempts({ limits, clock, logger }),
    refusals: createRefusals({ limits, clock, logger, limit, combineSeconds }),
  };
}

type Running = { readonly refusals: Refusals; readonly relays: readonly Pick<Relay, 'stop'>[] };

async function stopAll({ refusals, relays }: Running): Promise<void> {
  await refusals.stop();
  for (const relay of relays) await relay.stop();
}
