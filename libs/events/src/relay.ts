import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts';

/** An outbox as the relay sees it. */
export type OutboxSource = {
  /**
   * Hands the oldest waiting events to `publish` and removes them when it resolves; leaves them when it rejects.
   * Resolves with how many went.
   */
  drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number>;
};

export type Relay = {
  /** Says that events were appended, so that they need not wait for the next look. */
  nudge(): void;
  /** Stops after a last look, so that what was appended before is published. */
  stop(): Promise<void>;
};

type RelayOptions = {
  readonly source: OutboxSource;
  readonly publish: (events: readonly CloudEvent[]) => Promise<void>;
  /** Told of a failed attempt; the events stay where they are and are tried again. */
  readonly onFailure: (error: unknown) => void;
  /** How often to look without being nudged; longer and longer while it fails. */
  readonly everyMs?: number;
};

/** The longest wait after a failure, unless `everyMs` is longer: soon enough when the bus is back. */
const longestWaitMs = 5000;

/**
 * Moves events from an outbox to the bus, at least once each, until it is stopped. While the bus is down it tries less
 * and less often, and a nudge does not hasten it: each attempt costs the database a transaction.
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
