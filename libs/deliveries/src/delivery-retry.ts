/** The failure reasons that end a delivery immediately, because no later attempt can succeed. */
const finalReasons: readonly string[] = ['unregistered', 'gone'];

const secondMs = 1000;
const firstWaitMs = 5 * secondMs;
const maxWaitMs = 3600 * secondMs;

type FailedAttempt = {
  /** A `DeliveryFailure`, or a failure reason that the service defines. */
  readonly reason: string;
  readonly attempts: number;
  /** The time of the failure, in milliseconds since 1970. */
  readonly now: number;
  /** The time after which no further attempt follows, in milliseconds since 1970. */
  readonly giveUpAt: number;
  /** The wait that the receiver requested with a 429 or 503. */
  readonly retryAfterMs?: number;
  /**
   * A new random number from 0 to 1 for each failure, so that deliveries that failed at the same time are
   * retried at different times.
   */
  readonly random: number;
};

/**
 * Returns the time of the next attempt, or undefined if no attempt follows. Each wait is between half and all
 * of a time that doubles from five seconds to an hour. A receiver may request longer waits of up to an hour.
 * The last attempt is at `giveUpAt`.
 */
export function nextAttemptAt(failed: FailedAttempt): number | undefined {
  const { reason, attempts, now, giveUpAt, retryAfterMs = 0, random } = failed;
  if (finalReasons.includes(reason) || now >= giveUpAt) return undefined;
  const ceilingMs = Math.min(firstWaitMs * 2 ** Math.min(attempts - 1, 20), maxWaitMs);
  const waitMs = Math.max(ceilingMs * (0.5 + random / 2), Math.min(retryAfterMs, maxWaitMs));
  return Math.min(now + waitMs, giveUpAt);
}

/**
 * Converts `Retry-After` (RFC 9110 section 10.2.3) to milliseconds. Returns undefined if the header is absent
 * or malformed.
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * secondMs;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
