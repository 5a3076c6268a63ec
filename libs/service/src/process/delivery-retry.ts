import type { OutboundFailure } from '../http/outbound-error.ts';

/**
 * Why an attempt to deliver something to a registered address failed; the words that operators and the audit trail
 * see.
 */
export type DeliveryFailure =
  /** Whoever was to get it has no address in the registry any more. */
  | 'unregistered'
  /** The request was refused, or failed. */
  | Exclude<OutboundFailure, 'interrupted'>
  /** It answered, with another status than 2xx. */
  | 'redirected'
  | 'not_accepted'
  /** It answered 410: it wants no more of this. */
  | 'gone';

/** No later attempt can do better: these end a delivery at once. The others may be mended in time. */
const finalReasons: readonly string[] = ['unregistered', 'gone'];

const secondMs = 1000;
const firstWaitMs = 5 * secondMs;
const longestWaitMs = 3600 * secondMs;

type FailedAttempt = {
  /** A `DeliveryFailure`, or a word of the service. */
  readonly reason: string;
  /** Attempts so far, this one included. */
  readonly attempts: number;
  /** When it failed, and from when on nothing is tried any more; milliseconds since 1970. */
  readonly now: number;
  readonly giveUpAt: number;
  /** What the receiver asked to wait (429, 503). */
  readonly retryAfterMs?: number;
  /** 0 to 1, drawn anew each time: what failed together is not tried again together. */
  readonly random: number;
};

/**
 * When to try again: waits that double from five seconds to an hour, longer where the receiver asks for it but never
 * more than that hour, and a last attempt when its time ends. Undefined when there is none.
 */
export function nextAttemptAt(failed: FailedAttempt): number | undefined {
  const { reason, attempts, now, giveUpAt, retryAfterMs = 0, random } = failed;
  if (finalReasons.includes(reason) || now >= giveUpAt) return undefined;
  const ceilingMs = Math.min(firstWaitMs * 2 ** Math.min(attempts - 1, 20), longestWaitMs);
  const waitMs = Math.max(ceilingMs * (0.5 + random / 2), Math.min(retryAfterMs, longestWaitMs));
  return Math.min(now + waitMs, giveUpAt);
}

/** Reads `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3). Undefined when it is neither. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * secondMs;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
