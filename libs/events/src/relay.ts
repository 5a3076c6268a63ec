import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts';

/** An outbox as the relay sees it. */
export type OutboxSource = {
  /**
   * Passes the oldest waiting events to `publish` and removes them when it resolves; leaves them when it
   * rejects. Resolves with the number of published events.
   */
  drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number>;
};

export type Relay = {
  /** Reports that events were appended, so that they do not wait for the next poll. */
  nudge(): void;
  /** Stops after a last poll, so that earlier events are published. */
  stop(): Promise<void>;
};

type RelayOptions = {
  readonly source: OutboxSource;
  readonly publish: (events: readonly CloudEvent[]) => Promise<void>;
  /** Called after a failed attempt; the events stay in the outbox and are retried. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds between polls without a nudge; longer and longer while it fails. */
  readonly everyMs?: number;
};

/** The longest wait after a failure in milliseconds, unless `everyMs` is longer. */
const longestWaitMs = 5000;

/**
 * Moves events from an outbox to the bus, each at least once, until it is stopped. While the bus is down,
 * retries with growing waits, which a nudge does not shorten, because each attempt costs the database a
 * transaction.
 */
export function startRelay({ source, publish, onFailure, everyMs = 1000 }: RelayOptions): Relay {
  const stopping = new AbortController();
  let failures = 0;
  let wake = new AbortController();

  const drainAll = async () => {
    try {
      while ((await source.drain(publish)) > 0);
      failures = 0;
    } catch (error) {
      failures += 1;
      onFailure(error);
    }
  };
  const waitMs = () => Math.max(everyMs, Math.min(everyMs * 2 ** (failures - 1), longestWaitMs));
  const run = async () => {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      await drainAll();
      const signal = AbortSignal.any([wake.signal, stopping.signal]);
      await delay(waitMs(), undefined, { signal }).catch(() => undefined);
    }
    await drainAll();
  };
  const running = run();

  return {
    nudge: () => {
      if (failures === 0) wake.abort();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
