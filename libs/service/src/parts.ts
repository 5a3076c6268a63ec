import { createHash } from 'node:crypto';
import { createSealer, eventConsumers, type Sealer } from '@clinical-launch/contracts';
import {
  connectRabbitMq,
  type EventBus,
  InMemoryOutbox,
  InProcessBus,
  type Outbox,
  type Relay,
  startRelay,
} from '@clinical-launch/events';
import { openEmbeddedStorage, openPostgresStorage, type Storage } from '@clinical-launch/storage';
import {
  assertSafeRedis,
  connectRedis,
  InMemoryTickets,
  RedisOutbox,
  RedisTickets,
  type Tickets,
} from '@clinical-launch/tickets';
import type { Clock } from './clock.ts';
import { ConfigurationError, type Environment } from './environment.ts';
import type { Logger } from './logger.ts';
import { observeOutbox } from './metrics.ts';

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
  /** What the connections are called at the other end. */
  readonly name: string;
};

/** The variables that name the real parts; one that is unset is embedded, where that is allowed. */
export type PartVariable = 'REDIS_URL' | 'AMQP_URL' | 'DATABASE_URL' | 'SEALING_KEYS';

/** Insists on real parts. @throws ConfigurationError that names every variable that is not set. */
export function requireParts(environment: Environment, variables: readonly PartVariable[]): void {
  const unset = variables.filter((name) => !environment[name]);
  if (unset.length > 0) throw new ConfigurationError(unset.map((name) => `${name} is not set`));
}

/** Known to everybody, so that the demo's processes and restarts understand each other; production refuses it. */
const demoSealingKey = {
  id: 'demo',
  key: createHash('sha256').update('clinical-launch demo sealing key').digest(),
};

/**
 * The sealer of `SEALING_KEYS`: `id:key`, the key being 32 bytes in Base64URL, several separated by commas; the first
 * seals, all open. Without it, the demo's key.
 * @throws ConfigurationError when one cannot be used, or in production when there is none.
 */
export function openSealer(environment: Environment): Sealer {
  const isProduction = environment.NODE_ENV === 'production';
  if (!environment.SEALING_KEYS) {
    if (isProduction) throw new ConfigurationError(['SEALING_KEYS is not set']);
    return createSealer([demoSealingKey]);
  }
  const keys = environment.SEALING_KEYS.split(',').map((entry) => {
    const [, id = '', key = ''] = /^\s*([A-Za-z0-9-]{1,20}):([A-Za-z0-9_-]{43})=?\s*$/.exec(entry) ?? [];
    return { id, key: Buffer.from(key, 'base64url') };
  });
  if (keys.some(({ id }) => id === '')) {
    throw new ConfigurationError([
      'SEALING_KEYS must be id:key, the key 32 bytes in Base64URL; several by commas',
    ]);
  }
  if (isProduction && keys.some(({ key }) => key.equals(demoSealingKey.key))) {
    throw new ConfigurationError(['SEALING_KEYS has the key of the demo, which everybody knows']);
  }
  return createSealer(keys);
}

export type TicketParts = RunningPart & {
  readonly tickets: Tickets;
  readonly outbox: Outbox;
  /** Moves the outbox to the bus from now on; `stop` ends it with a last look. */
  startRelay(bus: Pick<EventBus, 'publish'>): void;
};

/** Tickets and the outbox of events that come with them: on Redis, or in memory without `REDIS_URL`. */
export async function openTicketParts({
  sealer,
  ...options
}: PartOptions & { sealer: Sealer }): Promise<TicketParts> {
  const { environment, logger, clock } = options;
  if (!environment.REDIS_URL) {
    const relays: Relay[] = [];
    const outbox = new InMemoryOutbox(() => relays.forEach((relay) => relay.nudge()));
    const tickets = new InMemoryTickets({ clock, outbox });
    return {
      tickets,
      outbox,
      checks: {},
      ...relaying(outbox, { logger, relays, end: async () => undefined }),
    };
  }
  const redis = await connectRedis(environment.REDIS_URL, { logger });
  await assertSafeRedis(redis, { isProduction: environment.NODE_ENV === 'production', logger });
  // A prefix of its own lets several systems share one Redis.
  const place = { redis, ...(environment.REDIS_PREFIX ? { prefix: environment.REDIS_PREFIX } : {}) };
  const outbox = new RedisOutbox(place);
  const tickets = new RedisTickets({ ...place, sealer });
  return {
    tickets,
    outbox,
    checks: { redis: () => redis.ping().then(() => true) },
    ...relaying(outbox, { logger, relays: [], end: async () => redis.disconnect() }),
  };
}

type RelayingOptions = {
  readonly logger: Logger;
  readonly relays: Relay[];
  readonly end: () => Promise<void>;
};

function relaying(outbox: InMemoryOutbox | RedisOutbox, { logger, relays, end }: RelayingOptions) {
  return {
    startRelay(bus: Pick<EventBus, 'publish'>): void {
      observeOutbox('tickets', async () => ({
        depth: await outbox.depth(),
        oldestAgeSeconds: (await outbox.oldestAgeMs()) / 1000,
      }));
      relays.push(
        startRelay({
          source: outbox,
          publish: (events) => bus.publish(events),
          onFailure: (error) => logger.error({ err: error }, 'events wait in the outbox of the tickets'),
          everyMs: 200,
        }),
      );
    },
    async stop(): Promise<void> {
      for (const relay of relays) await relay.stop();
      await end();
    },
  };
}

export type BusPart = RunningPart & { readonly bus: EventBus };

/** The event bus: RabbitMQ, or within the process without `AMQP_URL`. A broker that is away delays nobody's start. */
export async function openBusPart({ environment, logger }: PartOptions): Promise<BusPart> {
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
    knownConsumers: Object.entries(eventConsumers).map(([name, wanted]) => ({ name, ...wanted })),
    ...(environment.AMQP_NAMESPACE ? { namespace: environment.AMQP_NAMESPACE } : {}),
  });
  // No readiness check: without the broker events wait, and every request is still answered.
  return { bus, checks: {}, stop: () => bus.stop() };
}

export type StoragePart = RunningPart & { readonly storage: Storage };

/** The database: PostgreSQL, or embedded and in memory without `DATABASE_URL`. */
export async function openStoragePart({ environment, logger, name }: PartOptions): Promise<StoragePart> {
  const storage = environment.DATABASE_URL
    ? await openPostgresStorage({
        url: environment.DATABASE_URL,
        applicationName: name,
        onConnectionLost: (error) => logger.warn({ err: error }, 'a database connection was lost'),
      })
    : await openEmbeddedStorage();
  return { storage, checks: { database: () => storage.isReady() }, stop: () => storage.close() };
}
