import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

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
  readonly longestRetryMs?: number;
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
  longestRetryMs = 2000,
}: RelayOptions<Item>): Relay {
  const stopping = new AbortController();
  const bell = createBell();
  let failures = 0;

  const isStopping = () => stopping.signal.aborted;
  const pause = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const drainAll = async () => {
    try {
      for (;;) {
        // This drain finds what was reported until now.
        bell.silence();
        const startedAt = performance.now();
        if ((await source.drain(publish)) === 0) break;
        await pause(Math.max(0, gatherMs - (performance.now() - startedAt)));
      }
      failures = 0;
    } catch (error) {
      failures += 1;
      onFailure(error);
    }
  };
  const waitMs = () =>
    failures === 0
      ? everyMs
      : Math.min(Math.min(firstRetryMs, everyMs) * 2 ** (failures - 1), longestRetryMs);
  const run = async () => {
    while (!isStopping()) {
      await drainAll();
      if (!isStopping() && (await bell.wait(waitMs()))) await pause(gatherMs);
    }
    await drainAll();
  };
  const running = run();

  return {
    nudge: () => {
      if (failures === 0) bell.ring();
    },
    stop: async () => {
      stopping.abort();
      bell.ring();
      await running;
    },
  };
}

/** Wakes one sleeper, also if it rang before the sleeper lay down. */
function createBell() {
  let hasRung = false;
  let wake = () => {};
  return {
    ring(): void {
      hasRung = true;
      wake();
    },
    silence(): void {
      hasRung = false;
    },
    /** Resolves when it rings, or after this time; with whether it rang. */
    async wait(ms: number): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      wake = resolve;
      if (!hasRung) await promise;
      clearTimeout(timer);
      return hasRung;
    },
  };
}
