/** The reasons that end a delivery immediately, because no later attempt can succeed. */
const finalReasons: readonly string[] = ['unregistered', 'gone'];

const secondMs = 1000;
const firstWaitMs = 5 * secondMs;
const maxWaitMs = 3600 * secondMs;

type FailedAttempt = {
  /** A `DeliveryFailure`, or a reason of the service. */
  readonly reason: string;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  /** The time of the failure, and the time after which no attempt follows, in milliseconds since 1970. */
  readonly now: number;
  readonly giveUpAt: number;
  /** The wait that the receiver requested (429, 503). */
  readonly retryAfterMs?: number;
  /**
   * A new random number from 0 to 1 for each failure, so that deliveries that failed together are not retried
   * together.
   */
  readonly random: number;
};

/**
 * Returns the time of the next attempt, or undefined after the last one. Waits double from five seconds to an
 * hour. A receiver may request longer waits of up to an hour. The last attempt is at `giveUpAt`.
 */
export function nextAttemptAt(failed: FailedAttempt): number | undefined {
  const { reason, attempts, now, giveUpAt, retryAfterMs = 0, random } = failed;
  if (finalReasons.includes(reason) || now >= giveUpAt) return undefined;
  const ceilingMs = Math.min(firstWaitMs * 2 ** Math.min(attempts - 1, 20), maxWaitMs);
  const waitMs = Math.max(ceilingMs * (0.5 + random / 2), Math.min(retryAfterMs, maxWaitMs));
  return Math.min(now + waitMs, giveUpAt);
}

/** Reads `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3). Returns undefined for anything else. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * secondMs;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
