import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { backoff, startLoop } from '@clinical-launch/runtime/loop';

/** An outbox as the relay sees it. */
export type OutboxSource<Item = CloudEvent> = {
  /**
   * Passes the oldest waiting events to `publish` and removes them when it resolves; leaves them when it
   * rejects. Resolves with the number of published events.
   */
  drain(publish: (events: readonly Item[]) => Promise<void>): Promise<number>;
};

export type Relay = {
  /** Reports that events were appended, so that they do not wait for the next poll. */
  nudge(): void;
  /** Stops after a last poll, so that earlier events are published. */
  stop(): Promise<void>;
};

type RelayOptions<Item> = {
  readonly source: OutboxSource<Item>;
  readonly publish: (events: readonly Item[]) => Promise<void>;
  /** Called after a failed attempt; the events stay in the outbox and are retried. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Milliseconds between polls without a nudge. They find the events of a process that ended before its
   * nudge, and those that another relay did not complete.
   */
  readonly everyMs?: number;
  /** The longest wait after a failure, in milliseconds. */
  readonly maxRetryMs?: number;
};

/** Milliseconds in which events gather before they are published together, if publishing takes less time. */
const gatherMs = 5;

/** The first wait after a failure in milliseconds. */
const firstRetryMs = 200;

/**
 * Moves events from an outbox to the bus, each at least once, until it is stopped. It is woken when events
 * are appended. While the bus is down, retries with growing waits, which a nudge does not shorten, because
 * each attempt costs the database a transaction.
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
      // After some events more of them usually wait.
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
