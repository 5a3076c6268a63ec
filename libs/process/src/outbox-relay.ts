import { type OutboxSource, type Relay, startRelay } from '@clinical-launch/events/relay';
import type { Logger } from '@clinical-launch/runtime/logger';
import { observeOutbox } from '@clinical-launch/runtime/metrics';

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

/** Starts the relay of an outbox, measures the outbox, and logs when its events have to wait. */
export function startOutboxRelay<Item>({ name, outbox, publish, logger }: RelayOptions<Item>): Relay {
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
