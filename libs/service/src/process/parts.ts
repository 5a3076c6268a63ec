import { eventConsumers } from '@clinical-launch/contracts/events/catalogue';
import type { EventBus } from '@clinical-launch/events/event-bus';
import { InProcessBus } from '@clinical-launch/events/in-process-bus';
import type { Storage } from '@clinical-launch/storage/storage';
import { ConfigurationError, type Environment } from '../environment.ts';
import { isProduction } from '../mode.ts';
import type { Revocations } from '../trust/revocations.ts';
import type { PartOptions, RunningPart } from './part.ts';
import { observeDatabase, observePool } from './part-metrics.ts';
import { followRevocations } from './revocations.ts';
import type { TicketParts } from './ticket-parts.ts';

/** The variables that name the real parts; one that is unset is embedded, where that is allowed. */
export type PartVariable = 'REDIS_URL' | 'AMQP_URL' | 'DATABASE_URL';

/**
 * Insists on real parts, and in production on passwords that are not public.
 * @throws ConfigurationError that names every variable
 */
export function requireParts(environment: Environment, variables: readonly PartVariable[]): void {
  const problems = variables.flatMap((name) => {
    const address = environment[name];
    if (!address) return [`${name} is not set`];
    return isProduction(environment) && hasPasswordOfDemo(address)
      ? [`${name} contains a password of the demo, which is publicly known`]
      : [];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Those of `deploy/docker/demo-secrets` begin so. Redis may have several addresses, separated by commas. */
const hasPasswordOfDemo = (addresses: string) =>
  addresses.split(',').some((address) => URL.parse(address.trim())?.password.startsWith('demo-') === true);

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

export type BusPart = RunningPart & { readonly bus: EventBus };

/**
 * The event bus: RabbitMQ, or within the process without `AMQP_URL`. A broker that is away delays nobody's
 * start.
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
  // Loaded when it is used, as every client here: a library is a tenth of a process's start and memory.
  const { connectRabbitMq } = await import('@clinical-launch/events/rabbitmq');
  const bus = await connectRabbitMq({
    url: environment.AMQP_URL,
    logger,
    ...eventKeys,
    knownConsumers: Object.entries(eventConsumers).map(([name, wanted]) => ({ name, ...wanted })),
    ...(environment.AMQP_NAMESPACE ? { namespace: environment.AMQP_NAMESPACE } : {}),
  });
  // No readiness check: without the broker events wait, and every request is still answered.
  return { bus, checks: {}, stop: () => bus.stop() };
}

export type StoragePart = RunningPart & { readonly storage: Storage };

/** The database: PostgreSQL, or embedded and in memory without `DATABASE_URL`. */
export async function openStoragePart({
  environment,
  logger,
  name,
}: Omit<PartOptions, 'eventKeys'>): Promise<StoragePart> {
  const storage = environment.DATABASE_URL
    ? await openPostgres(environment.DATABASE_URL, { name, logger })
    : await openEmbedded();
  if (storage.load !== undefined) {
    observePool(name, storage.load.pool);
    observeDatabase(storage.load.server);
  }
  return { storage, checks: { database: () => storage.isReady() }, stop: () => storage.close() };
}

/** Longer than a database takes to start and an operator's migrations usually take; then the process ends. */
const schemaWithinMs = 120_000;

async function openPostgres(url: string, { name, logger }: Pick<PartOptions, 'name' | 'logger'>) {
  const { openPostgresStorage } = await import('@clinical-launch/storage/postgres');
  return openPostgresStorage({
    url,
    applicationName: name,
    schemaWait: {
      withinMs: schemaWithinMs,
      onWaiting: (error) => logger.warn({ err: error }, 'waiting for the database and its migrations'),
    },
    onConnectionLost: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
}

async function openEmbedded() {
  const { openEmbeddedStorage } = await import('@clinical-launch/storage/embedded-storage');
  return openEmbeddedStorage();
}
