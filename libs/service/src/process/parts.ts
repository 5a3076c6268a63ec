import { eventConsumers } from '@clinical-launch/contracts';
import { connectRabbitMq, type EventBus, InProcessBus } from '@clinical-launch/events';
import { openEmbeddedStorage, openPostgresStorage, type Storage } from '@clinical-launch/storage';
import { ConfigurationError, type Environment } from '../environment.ts';
import type { Revocations } from '../trust/revocations.ts';
import type { PartOptions, RunningPart } from './part.ts';
import { followRevocations } from './revocations.ts';
import { createSharedRateLimiter } from './shared-rate-limit.ts';

export { type EventKeys, readSharedEventKeys } from './event-keys.ts';
export { openSealers } from './sealing-keys.ts';
export { withSecretFiles } from './secret-files.ts';

/** A part that runs until it is stopped. */
export type RunningPart = {
  /** Readiness checks, by the name under which `/readyz` shows them. */
  readonly checks: Readonly<Record<string, () => Promise<boolean>>>;
  stop(): Promise<void>;
};

type PartOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of the connections at the server. */
  readonly name: string;
  /** Signs outgoing events and verifies incoming ones. */
  readonly eventKeys: EventKeys;
};

/** The variables that configure the external parts; an unset part is embedded, if that is allowed. */
export type PartVariable = 'REDIS_URL' | 'AMQP_URL' | 'DATABASE_URL';

/** Requires external parts. @throws ConfigurationError that names every variable that is not set */
export function requireParts(environment: Environment, variables: readonly PartVariable[]): void {
  const unset = variables.filter((name) => !environment[name]);
  if (unset.length > 0) throw new ConfigurationError(unset.map((name) => `${name} is not set`));
}

export type TicketParts = RunningPart & {
  readonly tickets: Tickets;
  readonly outbox: Outbox;
  /** The claims of the tickets, for the service that records them. */
  readonly claims: Claims;
  /** The access tokens that their clients revoked. */
  readonly revokedTokens: RevokedTokens;
  /** Limits the requests of clients, across all replicas. */
  readonly limiter: RateLimiter;
  /** Slows down failed attempts to authenticate. */
  readonly attempts: Attempts;
  /** Limits and audits the refusals of this process. */
  readonly refusals: Refusals;
  /** Starts to move the outbox to the bus; `stop` ends it after a last poll. */
  startRelay(bus: Pick<EventBus, 'publish'>): void;
};

type TicketPartOptions = PartOptions & {
  /** The sealers of the kinds of tickets that this process uses. */
  readonly sealers?: TicketSealers;
  /**
   * Refuses claims, and is not ready, until all recorded claims are restored. For services that issue tickets
   * with claims.
   */
  readonly requiresCompleteClaims?: boolean;
};

/**
 * Opens the tickets, the limits and the outboxes of their events: on Redis, or in memory without `REDIS_URL`.
 */
export async function openTicketParts({
  sealers = {},
  requiresCompleteClaims = false,
  ...options
}: TicketPartOptions): Promise<TicketParts> {
  const { environment, logger, clock, eventKeys } = options;
  const { limit, combineSeconds, mostEvents } = readRefusalSettings(environment);
  const limitParts = (limits: Limits) => ({
    attempts: createAttempts({ limits, clock, logger }),
    refusals: createRefusals({ limits, clock, logger, limit, combineSeconds }),
  });
  if (!environment.REDIS_URL) {
    const relays: Relay[] = [];
    const createOutbox = () => new InMemoryOutbox(() => relays.forEach((relay) => relay.nudge()));
    const [outbox, refused] = [createOutbox(), createOutbox()];
    const tickets = new InMemoryTickets({ clock, outbox });
    const limited = limitParts(new InMemoryLimits({ clock, outbox: refused, mostEvents }));
    const { refusals } = limited;
    return {
      tickets,
      outbox,
      claims: new InMemoryClaims(tickets),
      revokedTokens: new InMemoryRevokedTokens({ clock, outbox }),
      limiter: createRateLimiter(clock),
      ...limited,
      checks: {},
      ...relaying(
        { tickets: outbox, refusals: refused },
        { logger, relays, refusals, end: async () => undefined },
      ),
    };
  }
  const redis = await connectRedis(environment.REDIS_URL, { logger });
  await assertSafeRedis(redis, { isProduction: isProduction(environment), logger });
  // A prefix lets several systems share one Redis.
  const place = { redis, ...(environment.REDIS_PREFIX ? { prefix: environment.REDIS_PREFIX } : {}) };
  const { writeEvent } = eventKeys;
  const outbox = new RedisOutbox({
    ...place,
    writeEvent,
    onRejected: reportRejectedEvents('tickets', logger),
  });
  const onRejected = reportRejectedEvents('refusals', logger);
  const refused = new RedisOutbox({ ...place, stream: 'refused', writeEvent, onRejected });
  const tickets = new RedisTickets({ ...place, sealers, logger, requiresCompleteClaims, writeEvent });
  const claims = new RedisClaims(place);
  const limited = limitParts(new RedisLimits({ ...place, mostEvents, writeEvent }));
  const { refusals } = limited;
  const end = async () => redis.disconnect();
  return {
    tickets,
    outbox,
    claims,
    revokedTokens: new RedisRevokedTokens({ ...place, writeEvent }),
    limiter: createSharedRateLimiter(new RedisRates({ ...place, service: options.name })),
    ...limited,
    checks: {
      redis: () => redis.ping().then(() => true),
      ...(requiresCompleteClaims ? { claims: () => claims.areComplete() } : {}),
    },
    ...relaying({ tickets: outbox, refusals: refused }, { logger, relays: [], refusals, end }),
  };
}

export type RevocationsPart = RunningPart & { readonly revocations: Revocations };

/**
 * Follows the list of revoked access tokens, for a process that verifies such tokens. It is ready when the
 * list was read.
 */
export async function openRevocationsPart(
  { revokedTokens }: Pick<TicketParts, 'revokedTokens'>,
  options: Pick<PartOptions, 'clock' | 'logger'>,
): Promise<RevocationsPart> {
  const revocations = await followRevocations(revokedTokens, options);
  return {
    revocations,
    checks: { revocations: async () => revocations.isCurrent() },
    stop: () => revocations.stop(),
  };
}

type RelayingOptions = {
  readonly logger: Logger;
  readonly relays: Relay[];
  readonly refusals: Refusals;
  readonly end: () => Promise<void>;
};

type RelayedOutbox = InMemoryOutbox | RedisOutbox;

/** Gives each outbox its own relay, so that refusals do not delay the events of accepted work. */
function relaying(
  outboxes: Readonly<Record<string, RelayedOutbox>>,
  { logger, relays, refusals, end }: RelayingOptions,
) {
  const start = (name: string, outbox: RelayedOutbox, bus: Pick<EventBus, 'publish'>) => {
    observeOutbox(name, async () => ({
      depth: await outbox.depth(),
      oldestAgeSeconds: (await outbox.oldestAgeMs()) / 1000,
    }));
    return startRelay({
      source: outbox,
      publish: (events) => bus.publish(events),
      onFailure: (error) => logger.error({ err: error }, `events wait in the outbox of the ${name}`),
      everyMs: 200,
    });
  };
  return {
    startRelay(bus: Pick<EventBus, 'publish'>): void {
      relays.push(...Object.entries(outboxes).map(([name, outbox]) => start(name, outbox, bus)));
    },
    async stop(): Promise<void> {
      await refusals.stop();
      for (const relay of relays) await relay.stop();
      await end();
    },
  };
}

export type BusPart = RunningPart & { readonly bus: EventBus };

/**
 * Opens the event bus: RabbitMQ, or within the process without `AMQP_URL`. A broker that is down does not
 * delay the start.
 */
export async function openBusPart({ environment, logger, eventKeys }: PartOptions): Promise<BusPart> {
  if (!environment.AMQP_URL) {
    const bus = new InProcessBus({
      onDeadLetter: ({ consumer, event: { id, type, correlationid }, error }) =>
        logger.error(
          { consumer, eventId: id, type, correlationId: correlationid, err: error },
          'dead letter',
        ),
    });
    return { bus, checks: {}, stop: () => bus.stop() };
  }
  const bus = await connectRabbitMq({
    url: environment.AMQP_URL,
    logger,
    ...eventKeys,
    knownConsumers: Object.entries(eventConsumers).map(([name, wanted]) => ({ name, ...wanted })),
    ...(environment.AMQP_NAMESPACE ? { namespace: environment.AMQP_NAMESPACE } : {}),
  });
  // No readiness check: without the broker, events wait and every request is still answered.
  return { bus, checks: {}, stop: () => bus.stop() };
}

export type StoragePart = RunningPart & { readonly storage: Storage };

/** Opens the database: PostgreSQL, or embedded and in memory without `DATABASE_URL`. */
export async function openStoragePart({
  environment,
  logger,
  name,
}: Omit<PartOptions, 'eventKeys'>): Promise<StoragePart> {
  const storage = environment.DATABASE_URL
    ? await openPostgresStorage({
        url: environment.DATABASE_URL,
        applicationName: name,
        onConnectionLost: (error) => logger.warn({ err: error }, 'a database connection was lost'),
      })
    : await openEmbeddedStorage();
  return { storage, checks: { database: () => storage.isReady() }, stop: () => storage.close() };
}
