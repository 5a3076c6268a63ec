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
  readonly everyMs?: number;
};

/** Moves events from an outbox to the bus, at least once each, until it is stopped. */
export function startRelay({ source, publish, onFailure, everyMs = 1000 }: RelayOptions): Relay {
  let isStopping = false;
  let wake = new AbortController();

  const drainAll = async () => {
    while ((await source.drain(publish)) > 0);
  };
  const run = async () => {
    while (!isStopping) {
      wake = new AbortController();
      await drainAll().catch(onFailure);
      await delay(everyMs, undefined, { signal: wake.signal }).catch(() => undefined);
    }
    await drainAll().catch(onFailure);
  };
  const running = run();

  return {
    nudge: () => wake.abort(),
    stop: async () => {
      isStopping = true;
      wake.abort();
      await running;
    },
  };
}
