/**
 * Reasons that end a delivery immediately, because no later attempt can succeed. The others may be fixed in
 * time.
 */
const finalReasons: readonly string[] = ['unregistered', 'gone'];

const secondMs = 1000;
const firstWaitMs = 5 * secondMs;
const maxWaitMs = 3600 * secondMs;

type FailedAttempt = {
  /** A `DeliveryFailure`, or a reason of the service. */
  readonly reason: string;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  /** When it failed, and after which time no attempt follows; milliseconds since 1970. */
  readonly now: number;
  readonly giveUpAt: number;
  /** The wait that the receiver requested (429, 503). */
  readonly retryAfterMs?: number;
  /**
   * A new random number from 0 to 1 each time, so that deliveries that failed together are not retried
   * together.
   */
  readonly random: number;
};

/**
 * Returns the time of the next attempt: waits that double from five seconds to an hour, longer if the
 * receiver requests it but never more than that hour, and a last attempt at the end. Undefined after the last
 * attempt.
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
