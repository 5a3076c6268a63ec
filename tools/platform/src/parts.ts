import { InMemoryOutbox } from '@clinical-launch/events/in-memory-outbox';
import { InProcessBus } from '@clinical-launch/events/in-process-bus';
import type { Relay } from '@clinical-launch/events/relay';
import { InMemoryLimits } from '@clinical-launch/limits/in-memory-limits';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import type { PartOptions } from '@clinical-launch/process/part';
import type { StoragePart } from '@clinical-launch/process/postgres-part';
import type { BusPart } from '@clinical-launch/process/rabbitmq-part';
import { countTickets } from '@clinical-launch/process/ticket-metrics';
import {
  limitParts,
  stopTicketParts,
  type TicketPartOptions,
  type TicketParts,
} from '@clinical-launch/process/ticket-parts';
import { startMemoryRelays } from '@clinical-launch/process/ticket-relays';
import type { Logger } from '@clinical-launch/runtime/logger';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded-storage';
import { InMemoryClaims } from '@clinical-launch/tickets/claims';
import { InMemoryTickets } from '@clinical-launch/tickets/in-memory-tickets';
import { InMemoryRevokedTokens } from '@clinical-launch/trust/in-memory-revoked-tokens';

// A real part is loaded only where its variable is set: its client is a tenth of the start and the memory.

/** Opens the tickets: on Redis, or in memory without `REDIS_URL`. */
export async function chooseTicketParts(options: TicketPartOptions): Promise<TicketParts> {
  if (!options.environment.REDIS_URL) return createTicketParts(options);
  const { openRedisParts } = await import('@clinical-launch/process/redis-parts');
  return openRedisParts(options);
}

/** Opens the event bus: RabbitMQ, or within the process without `AMQP_URL`. */
export async function chooseBus(options: PartOptions): Promise<BusPart> {
  if (!options.environment.AMQP_URL) return createBus(options.logger);
  const { openRabbitMq } = await import('@clinical-launch/process/rabbitmq-part');
  return openRabbitMq(options);
}

/** Opens the database: PostgreSQL, or embedded and in memory without `DATABASE_URL`. */
export async function chooseStorage(options: PartOptions): Promise<StoragePart> {
  if (options.environment.DATABASE_URL) {
    const { openPostgres } = await import('@clinical-launch/process/postgres-part');
    return openPostgres(options);
  }
  const storage = await openEmbeddedStorage();
  return { storage, checks: { database: () => storage.isReady() }, stop: () => storage.close() };
}

/** Creates tickets, limits and the outboxes of their events in memory. */
function createTicketParts(options: TicketPartOptions): TicketParts {
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
    stop: () => stopTicketParts({ refusals, relays }),
  };
}

function createBus(logger: Logger): BusPart {
  const bus = new InProcessBus({
    onDeadLetter: ({ consumer, event: { id, type, correlationid }, error }) =>
      logger.error({ consumer, eventId: id, type, correlationId: correlationid, err: error }, 'dead letter'),
  });
  return { bus, checks: {}, stop: () => bus.stop() };
}
