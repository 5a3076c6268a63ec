import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { backoff, startLoop } from '@clinical-launch/runtime/loop';

/** The part of an outbox that the relay uses. */
export type OutboxSource<Item = CloudEvent> = {
  /**
   * Passes the oldest waiting events to `publish`. Removes them if it resolves, and keeps them if it rejects.
   * Returns the number of published events.
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
  /** Called after a failed attempt. The events stay in the outbox and are retried. */
  readonly onFailure: (error: unknown) => void;
  /**
   * The milliseconds between polls without a nudge. Polls find the events of a process that ended before its
   * nudge, and those that another relay did not complete.
   */
  readonly everyMs?: number;
  /** The maximum wait after a failure, in milliseconds. */
  readonly maxRetryMs?: number;
};

/** The milliseconds for which events are collected to be published together, if publishing is faster. */
const gatherMs = 5;

/** The first wait after a failure, in milliseconds. */
const firstRetryMs = 200;

/**
 * Publishes the events of an outbox, each at least once, until it is stopped. It wakes up when events are
 * appended. While the bus is down, it retries with increasing waits. A nudge does not shorten them, because
 * each attempt is a database transaction.
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
      // If there were events, more are usually waiting.
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
