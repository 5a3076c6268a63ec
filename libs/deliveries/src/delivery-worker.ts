import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { backoff, startLoop } from '@clinical-launch/runtime/loop';
import { within } from '@clinical-launch/runtime/time-out';
import { inFollowingSpan } from '@clinical-launch/runtime/tracing';

export type DeliveryWorker = {
  /** Reports that a delivery was added, so that it does not wait for the next poll. */
  nudge(): void;
  /** Claims nothing more; gives current deliveries a moment to end, and then releases them. */
  stop(): Promise<void>;
};

type WorkerParts<Due> = {
  /** The maximum number of deliveries at once. */
  readonly slots: number;
  /**
   * The longest time between polls in milliseconds: they find the deliveries of other processes, and those of
   * an operator.
   */
  readonly pollMs: number;
  /** Leases the delivery that has been due longest, except those for these receivers. */
  readonly claim: (busyReceivers: readonly string[]) => Promise<Due | undefined>;
  /** Returns when the next delivery is due that is not for these receivers: milliseconds since 1970. */
  readonly nextDueAt: (busyReceivers: readonly string[]) => Promise<number | undefined>;
  /** Attempts one delivery and stores the result; releases it if the signal ends it early. */
  readonly attempt: (due: Due, ending: AbortSignal) => Promise<void>;
  /** Returns the name of the receiver, which gets one delivery at a time. */
  readonly receiverOf: (due: Due) => string;
  /** The name of the deliveries in the log: `documents`. */
  readonly what: string;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Less than the time of a stopping process, including the requests that end before. */
const endWithinMs = 3000;
const firstRetryMs = 2000;
const longestRetryMs = 5000;
/** A delivery that is due and cannot be claimed is being claimed by another process. */
const leastWaitMs = 100;

/**
 * Delivers due deliveries until it is stopped: several at a time, but one for each receiver, so that a slow
 * receiver delays no other. In between it sleeps until the next delivery is due, unless it is nudged. If a
 * process dies, another one makes its deliveries when the lease ends, so each is made at least once.
 */
export function startDeliveryWorker<Due extends { readonly traceparent: string }>(
  parts: WorkerParts<Due>,
): DeliveryWorker {
  const { slots, pollMs, claim, nextDueAt, attempt, receiverOf, what, clock, logger } = parts;
  const ending = new AbortController();
  const underWay = new Map<string, Promise<void>>();

  const begin = (due: Due) => {
    const receiver = receiverOf(due);
    const span = { name: `deliver ${what}`, attributes: {}, causes: [due.traceparent] };
    const attempted = inFollowingSpan(span, () => attempt(due, ending.signal))
      .catch((error: unknown) => logger.error({ err: error }, 'an attempt to deliver could not be recorded'))
      .finally(() => {
        underWay.delete(receiver);
        loop.nudge();
      });
    underWay.set(receiver, attempted);
  };
  const beginAll = async (stopping: AbortSignal): Promise<number> => {
    while (underWay.size < slots && !stopping.aborted) {
      const due = await claim([...underWay.keys()]);
      if (due !== undefined) begin(due);
      else {
        const dueAt = (await nextDueAt([...underWay.keys()])) ?? Number.POSITIVE_INFINITY;
        return Math.min(pollMs, Math.max(dueAt - clock.now(), leastWaitMs));
      }
    }
    return pollMs;
  };
  const loop = startLoop({
    work: beginAll,
    everyMs: pollMs,
    onFailure: (error) =>
      logger.error({ err: error }, `the ${what} that are due could not be read from the database`),
    retryAfterMs: backoff({ firstMs: Math.min(pollMs, firstRetryMs), maxMs: longestRetryMs }),
  });
  return {
    nudge: loop.nudge,
    async stop() {
      await loop.stop();
      const all = Promise.all(underWay.values());
      await within(endWithinMs, all).catch(() => ending.abort());
      await all;
    },
  };
}
