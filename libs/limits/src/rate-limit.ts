import { tooMany } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';

/** Limits requests by key. The key is a client or the address of a caller. */
export type RateLimiter = {
  /**
   * Counts a request if it is within the limit `perSecond`. Otherwise throws, or rejects with, ServiceError
   * 429 with `Retry-After` (RFC 6585 section 4). Callers must await the result, which is not a promise if no
   * query is needed.
   */
  count(key: string, perSecond: number | undefined): Promise<void> | undefined;
};

/** A rate limiter that counts in this process and never needs a query. */
export type LocalRateLimiter = { count(key: string, perSecond: number | undefined): undefined };

/**
 * The requests a second that a user's session may send to one process. Limits the audit events that one
 * session can cause. A user who ticks tests and types sends fewer.
 */
export const requestsPerSecondPerSession = 30;

const sweepAtKeys = 10_000;

/**
 * Creates a rate limiter that counts in this process. Its window slides, so that no period of one second
 * exceeds the limit.
 */
export function createRateLimiter(clock: Clock): LocalRateLimiter {
  const taken = new Map<string, number[]>();
  let nextSweepAt = 0;
  const forgetOld = (now: number) => {
    // Sweeps at most once a second, because during a flood from many addresses most sweeps would find no key
    // that is old enough to delete.
    nextSweepAt = now + 1000;
    for (const [key, times] of taken) if ((times.at(-1) ?? 0) <= now - 1000) taken.delete(key);
  };
  return {
    count(key, perSecond) {
      if (perSecond === undefined) return undefined;
      const now = clock.now();
      if (taken.size > sweepAtKeys && now >= nextSweepAt) forgetOld(now);
      const recent = (taken.get(key) ?? []).filter((time) => time > now - 1000);
      taken.set(key, recent);
      if (recent.length >= perSecond) throw tooMany(1000);
      recent.push(now);
      return undefined;
    },
  };
}
