import type { EventBus } from '@clinical-launch/events/event-bus';
import { type OutboxSource, type Relay, startRelay } from '@clinical-launch/events/relay';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { wakeRelays } from '@clinical-launch/redis/redis-wakes';
import type { Logger } from '@clinical-launch/runtime/logger';
import { observeOutbox } from '@clinical-launch/runtime/metrics';
import type { PartOptions, RunningPart } from './parts.ts';
import type { RedisParts } from './redis-parts.ts';
import { reportRejectedEvents } from './rejected-events.ts';

/** Opens the outbox that ticket operations use, so that events without a ticket can be appended to it. */
export const openRedisOutbox = (
  { location }: Pick<RedisParts, 'location'>,
  { logger }: Pick<PartOptions, 'logger'>,
): RedisOutbox => new RedisOutbox({ ...location, onRejected: reportRejectedEvents('tickets', logger) });

/**
 * Moves the events of tickets and refusals from Redis to the bus. An append in any process wakes the relays.
 * Each outbox has its own relay, so that refusals do not delay the events of accepted work.
 */
export function startRedisRelays(
  { location }: Pick<RedisParts, 'location'>,
  bus: Pick<EventBus, 'publishWritten'>,
  { logger }: Pick<PartOptions, 'logger'>,
): RunningPart {
  const outboxes = {
    tickets: openRedisOutbox({ location }, { logger }),
    refusals: new RedisOutbox({
      ...location,
      stream: 'refused',
      onRejected: reportRejectedEvents('refusals', logger),
    }),
  };
  const relayed = Object.entries(outboxes).map(([name, outbox]) => ({
    outbox,
    relay: startOutboxRelay({
      name,
      outbox,
      publish: (events) => bus.publishWritten(events),
      logger,
    }),
  }));
  const stopListening = wakeRelays(
    location.redis,
    relayed.map(({ outbox, relay }) => ({ outbox, nudge: () => relay.nudge() })),
  );
  return {
    checks: {},
    async stop() {
      await stopListening();
      for (const { relay } of relayed) await relay.stop();
    },
  };
}

type MeasuredOutbox<Item> = OutboxSource<Item> & {
  depth(): Promise<number>;
  /** Returns the milliseconds for which the oldest event has waited. */
  oldestAgeMs(): Promise<number>;
};

type RelayOptions<Item> = {
  /** The name of the outbox in metrics and in the log, for instance `tickets`. */
  readonly name: string;
  readonly outbox: MeasuredOutbox<Item>;
  readonly publish: (events: readonly Item[]) => Promise<void>;
  readonly logger: Logger;
};

function startOutboxRelay<Item>({ name, outbox, publish, logger }: RelayOptions<Item>): Relay {
  observeOutbox(name, async () => ({
    depth: await outbox.depth(),
    oldestAgeSeconds: (await outbox.oldestAgeMs()) / 1000,
  }));
  return startRelay({
    source: outbox,
    publish,
    onFailure: (error) => logger.error({ err: error }, `events wait in the outbox of the ${name}`),
  });
}
