import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';

export type DeliveryWorker = {
  /** Says that something is due, so that it need not wait for the next poll. */
  nudge(): void;
  /** Takes nothing more; what is under way has a moment to end, and is given back then. */
  stop(): Promise<void>;
};

type WorkerParts<Due> = {
  /** Deliveries under way at once, at most. */
  readonly slots: number;
  /** Milliseconds between polls for due deliveries. */
  readonly pollMs: number;
  /** Leases what has been due the longest, for none of these receivers. */
  readonly claim: (busyReceivers: readonly string[]) => Promise<Due | undefined>;
  /** Attempts one delivery and records what became of it; gives it back when the signal ends it early. */
  readonly attempt: (due: Due, ending: AbortSignal) => Promise<void>;
  /** Names the receiver, which is kept busy by one delivery at a time. */
  readonly receiverOf: (due: Due) => string;
  /** What waits, for the log: `documents`. */
  readonly what: string;
  readonly logger: Logger;
};

/** Less than a stopping process is given, the requests under way before it included. */
const endWithinMs = 3000;
const longestWaitMs = 5000;

/**
 * Delivers what is due until it is stopped: several deliveries at a time, but one to a receiver, so that a slow
 * receiver delays no other. A process that dies has its deliveries made by another one when the lease is over, so
 * each is made at least once.
 */
export function startDeliveryWorker<Due>(parts: WorkerParts<Due>): DeliveryWorker {
  const { slots, pollMs, claim, attempt, receiverOf, what, logger } = parts;
  const stopping = new AbortController();
  const ending = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  let wake = new AbortController();
  let failures = 0;

  const begin = (due: Due) => {
    const receiver = receiverOf(due);
    const attempted = attempt(due, ending.signal)
      .catch((error: unknown) => logger.error({ err: error }, 'an attempt to deliver could not be recorded'))
      .finally(() => {
        underWay.delete(receiver);
        wake.abort();
      });
    underWay.set(receiver, attempted);
  };
  const beginAll = async () => {
    try {
      while (underWay.size < slots && !stopping.signal.aborted) {
        const due = await claim([...underWay.keys()]);
        if (due === undefined) break;
        begin(due);
      }
      failures = 0;
    } catch (error) {
      failures += 1;
      logger.error({ err: error }, `${what} wait to be delivered: they cannot be looked for`);
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      await beginAll();
      const signal = AbortSignal.any(failures === 0 ? [wake.signal, stopping.signal] : [stopping.signal]);
      const waitMs = Math.max(pollMs, Math.min(pollMs * 2 ** failures, longestWaitMs));
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    nudge: () => wake.abort(),
    async stop() {
      stopping.abort();
      await running;
      const enough = setTimeout(() => ending.abort(), endWithinMs);
      await Promise.all(underWay.values());
      clearTimeout(enough);
    },
  };
}
