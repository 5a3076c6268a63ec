import type { EventBus } from '@clinical-launch/events/event-bus';
import type { InMemoryOutbox } from '@clinical-launch/events/in-memory-outbox';
import { type Relay, startRelay } from '@clinical-launch/events/relay';
import type { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { WokenOutbox } from '@clinical-launch/redis/redis-wakes';
import type { Logger } from '@clinical-launch/runtime/logger';
import { observeOutbox } from '@clinical-launch/runtime/metrics';

/** The bus, as far as the relays need it. */
export type RelayTarget = Pick<EventBus, 'publish' | 'publishWritten'>;

/** Each outbox has a relay of its own, so that no refusal delays the events of accepted work. */
type Outboxes<Outbox> = { readonly tickets: Outbox; readonly refusals: Outbox };

/** Starts the relays of outboxes in memory; the outboxes nudge them. */
export function startMemoryRelays(
  outboxes: Outboxes<InMemoryOutbox>,
  { bus, logger }: { readonly bus: RelayTarget; readonly logger: Logger },
): readonly Relay[] {
  return Object.entries(outboxes).map(([name, outbox]) =>
    startRelay({
      source: outbox,
      publish: (events) => bus.publish(events),
      onFailure: observe(name, outbox, logger),
    }),
  );
}

type RedisRelayDependencies = {
  readonly bus: RelayTarget;
  readonly logger: Logger;
  /** Wakes the relays when events are appended; returns a function that stops it (`wakeRelays`). */
  readonly wake: (woken: readonly WokenOutbox[]) => () => Promise<void>;
};

/** Starts the relays of outboxes in Redis; the appends of all processes wake them. */
export function startRedisRelays(
  outboxes: Outboxes<RedisOutbox>,
  { bus, logger, wake }: RedisRelayDependencies,
): readonly Pick<Relay, 'stop'>[] {
  const relayed = Object.entries(outboxes).map(([name, outbox]) => {
    const relay = startRelay({
      source: outbox,
      publish: (events) => bus.publishWritten(events),
      onFailure: observe(name, outbox, logger),
    });
    return { outbox, relay };
  });
  const stopListening = wake(relayed.map(({ outbox, relay }) => ({ outbox, nudge: () => relay.nudge() })));
  return [{ stop: stopListening }, ...relayed.map(({ relay }) => relay)];
}

/** Measures an outbox. Returns the log of the failures of its relay. */
function observe(name: string, outbox: InMemoryOutbox | RedisOutbox, logger: Logger) {
  observeOutbox(name, async () => ({
    depth: await outbox.depth(),
    oldestAgeSeconds: (await outbox.oldestAgeMs()) / 1000,
  }));
  return (error: unknown) => logger.error({ err: error }, `events wait in the outbox of the ${name}`);
}
