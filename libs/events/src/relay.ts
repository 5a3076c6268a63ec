import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { backoff, startLoop } from '@clinical-launch/runtime/loop';

export type OutboxSource<Item = CloudEvent> = {
  /**
   * Passes the oldest waiting events to `publish`. Removes the events if `publish` resolves, and keeps them
   * if it rejects. Returns the number of processed events.
   */
  drain(publish: (events: readonly Item[]) => Promise<void>): Promise<number>;
};

export type Relay = {
  /** Wakes the relay, so that appended events do not wait for the next poll. */
  nudge(): void;
  /** Polls a last time, so that all appended events are published, and stops. */
  stop(): Promise<void>;
};

type RelayOptions<Item> = {
  readonly source: OutboxSource<Item>;
  readonly publish: (events: readonly Item[]) => Promise<void>;
  /** Is called after a failed attempt to publish. The events stay in the outbox and are retried. */
  readonly onFailure: (error: unknown) => void;
  /**
   * The milliseconds between polls if `nudge` is not called. Polls find the events of a process that ended
   * before it called `nudge`, and events that another relay claimed but did not publish.
   */
  readonly everyMs?: number;
  /** The maximum wait after a failure, in milliseconds. */
  readonly maxRetryMs?: number;
};

/**
 * The minimum interval between polls in milliseconds. Events that arrive within it are published together.
 */
const gatherMs = 5;

/** The first wait after a failure, in milliseconds. */
const firstRetryMs = 200;

/**
 * Publishes the events of an outbox, each at least once, until `stop` is called. A call of `nudge` causes a
 * poll. While the bus is down, the relay retries with increasing waits. `nudge` does not shorten these waits,
 * because each attempt is a database transaction.
 */
export function startRelay<Item>({
  source,
  publish,
  onFailure,
  everyMs = 2000,
  maxRetryMs = 2000,
}: RelayOptions<Item>): Relay {
  const loop = startLoop({
    async work() {
      const startedAt = performance.now();
      // If events were published, more events are usually waiting.
      if ((await source.drain(publish)) > 0) return Math.max(0, startedAt + gatherMs - performance.now());
    },
    everyMs,
    gatherMs,
    onFailure,
    retryAfterMs: backoff({ firstMs: Math.min(firstRetryMs, everyMs), maxMs: maxRetryMs }),
  });
  return {
    nudge: loop.nudge,
    async stop() {
      await loop.stop();
      try {
        while ((await source.drain(publish)) > 0);
      } catch (error) {
        onFailure(error);
      }
    },
  };
}
