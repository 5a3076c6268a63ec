import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { type Clock, withTimeout } from '@clinical-launch/runtime/clock';
import { errorCode } from '@clinical-launch/runtime/logged-error';
import type { Logger } from '@clinical-launch/runtime/logger';
import { backoff, startLoop } from '@clinical-launch/runtime/loop';
import { inFollowingSpan } from '@clinical-launch/runtime/tracing';
import type { DeliveryAttempt } from './delivery-attempt.ts';
import { nextAttemptAt } from './delivery-retry.ts';
import type { LeasedDelivery, Settlement } from './delivery-table.ts';

export type DeliveryWorker = {
  /** Wakes the worker, so that a new delivery does not wait for the next poll. */
  readonly nudge: () => void;
  /** Leases no more deliveries. Waits up to three seconds for current attempts, and then aborts them. */
  readonly stop: () => Promise<void>;
};

/** Accesses the deliveries of a service (delivery-table.ts). Times are in milliseconds since 1970. */
export type DeliveryQueue<Due extends LeasedDelivery> = {
  /** Leases the delivery that has been due longest and whose receiver is not busy. */
  lease(now: number, busyReceivers: readonly string[]): Promise<Due | undefined>;
  /** Returns the time at which the next delivery without a lease is due. Ignores busy receivers. */
  nextDueAt(now: number, busyReceivers: readonly string[]): Promise<number | undefined>;
  /** Releases a lease, and does not count the attempt. */
  release(due: Due): Promise<void>;
};

type Failed<Reason extends string> = Extract<DeliveryAttempt<Reason>, { outcome: 'failed' }>;

export type DeliveryResult<Due, Reason extends string = never> = {
  readonly due: Due;
  readonly attempt: Exclude<DeliveryAttempt<Reason>, { outcome: 'interrupted' }>;
  /** True if no further attempt follows. */
  readonly isFinal: boolean;
  /** The time at which the attempt ended, in milliseconds since 1970. */
  readonly now: number;
};

type WorkerOptions<Due extends LeasedDelivery, Reason extends string> = {
  /** The word for a delivery in the log, such as `document`. */
  readonly what: string;
  readonly slots: number;
  /**
   * The maximum time between polls in milliseconds. Polls find deliveries that other processes added or that
   * operators replayed.
   */
  readonly pollMs: number;
  readonly queue: DeliveryQueue<Due>;
  /** Attempts a delivery. Must stop the attempt if the signal aborts. */
  readonly deliver: (due: Due, ending: AbortSignal) => Promise<DeliveryAttempt<Reason>>;
  /**
   * Stores the result of an attempt, and the events about the result. If this function rejects, the delivery
   * is attempted again.
   */
  readonly settle: (due: Due, settlement: Settlement, events: readonly CloudEvent[]) => Promise<void>;
  readonly eventOf: (result: DeliveryResult<Due, Reason>) => CloudEvent;
  /**
   * Returns log fields that describe a delivery. They must not contain the address, which may contain a
   * secret of the receiver.
   */
  readonly factsOf: (due: Due) => object;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * The milliseconds that `stop` waits for current attempts. This wait is shorter than the time that a process
 * has for stopping, because open requests must end first.
 */
const endWithinMs = 3000;
const firstRetryMs = 2000;
const maxRetryMs = 5000;
/** The minimum wait, for example while another process is leasing the due delivery. */
const minWaitMs = 100;

/**
 * Attempts due deliveries until `stop` is called. Several attempts run at the same time, but only one for
 * each receiver, so that a slow receiver does not delay others. The worker sleeps until the next delivery is
 * due or `nudge` is called. If a process dies, another process repeats its deliveries after the leases end.
 * Messages are therefore delivered at least once.
 */
export function startDeliveryWorker<Due extends LeasedDelivery, Reason extends string = never>(
  options: WorkerOptions<Due, Reason>,
): DeliveryWorker {
  const { slots, pollMs, queue, what, clock, logger } = options;
  const ending = new AbortController();
  const underWay = new Map<string, Promise<void>>();

  const begin = (due: Due) => {
    const span = { name: `deliver ${what}s`, attributes: {}, causes: [due.traceparent] };
    const attempted = inFollowingSpan(span, () => attemptOnce(options, due, ending.signal))
      .catch((error: unknown) =>
        logger.error({ err: error }, 'the result of a delivery attempt could not be stored'),
      )
      .finally(() => {
        underWay.delete(due.receiver);
        loop.nudge();
      });
    underWay.set(due.receiver, attempted);
  };
  /** Begins attempts for due deliveries. Returns how many milliseconds to sleep. */
  const beginAll = async (stopping: AbortSignal): Promise<number> => {
    while (underWay.size < slots && !stopping.aborted) {
      const due = await queue.lease(clock.now(), [...underWay.keys()]);
      if (due === undefined) {
        const dueAt = (await queue.nextDueAt(clock.now(), [...underWay.keys()])) ?? Number.POSITIVE_INFINITY;
        return Math.min(pollMs, Math.max(dueAt - clock.now(), minWaitMs));
      }
      begin(due);
    }
    return pollMs;
  };
  const loop = startLoop({
    work: beginAll,
    everyMs: pollMs,
    onFailure: (error) => logger.error({ err: error }, `due ${what}s could not be read from the database`),
    retryAfterMs: backoff({ firstMs: Math.min(pollMs, firstRetryMs), maxMs: maxRetryMs }),
  });
  return {
    nudge: loop.nudge,
    async stop() {
      await loop.stop();
      const all = Promise.all(underWay.values());
      await withTimeout(endWithinMs, all).catch(() => ending.abort());
      await all;
    },
  };
}

/** Attempts a delivery and stores the result. If the signal aborts the attempt, releases the lease. */
async function attemptOnce<Due extends LeasedDelivery, Reason extends string>(
  options: WorkerOptions<Due, Reason>,
  due: Due,
  ending: AbortSignal,
): Promise<void> {
  const { queue, deliver, settle, eventOf, clock } = options;
  const attempt = await deliver(due, ending);
  if (attempt.outcome === 'interrupted') return queue.release(due);
  const now = clock.now();
  const next = attempt.outcome === 'delivered' ? undefined : retryAt(due, attempt, now);
  const result = { due, attempt, isFinal: next === undefined, now };
  await settle(due, settlementOf(result, next), isReported(result) ? [eventOf(result)] : []);
  // Logs last, so that the log never reports a result that was not stored.
  report(options, result);
}

function retryAt<Reason extends string>(
  { attempts, giveUpAt }: LeasedDelivery,
  { reason, retryAfterMs }: Failed<Reason>,
  now: number,
): number | undefined {
  const requested = retryAfterMs === undefined ? {} : { retryAfterMs };
  return nextAttemptAt({ reason, attempts, now, giveUpAt, random: Math.random(), ...requested });
}

function settlementOf<Due, Reason extends string>(
  { attempt, isFinal }: DeliveryResult<Due, Reason>,
  next: number | undefined,
): Settlement {
  const isDelivered = attempt.outcome === 'delivered';
  return {
    state: isDelivered ? 'delivered' : isFinal ? 'dead' : 'pending',
    ...withoutUndefined({ nextAttemptAt: next, status: attempt.status }),
    ...(isDelivered ? {} : { failure: attempt.reason }),
  };
}

/**
 * Returns true if an event must report the result: a success, or the first or last failure. A receiver that
 * is down for a day then causes two events instead of forty.
 */
const isReported = <Due extends LeasedDelivery, Reason extends string>({
  due,
  attempt,
  isFinal,
}: DeliveryResult<Due, Reason>): boolean => attempt.outcome === 'delivered' || isFinal || due.attempts === 1;

function report<Due extends LeasedDelivery, Reason extends string>(
  { what, factsOf, logger }: WorkerOptions<Due, Reason>,
  { due, attempt, isFinal }: DeliveryResult<Due, Reason>,
): void {
  const facts = { ...factsOf(due), attempts: due.attempts };
  if (attempt.outcome === 'delivered') return logger.info(facts, `${what} delivered`);
  const { reason, status, cause } = attempt;
  const failed = { ...facts, reason, status, code: errorCode(cause) };
  if (isFinal) logger.error(failed, `${what} not delivered, and no attempt is left`);
  else logger.warn(failed, `${what} not delivered`);
}
