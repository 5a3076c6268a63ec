import { tooMany } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';

/** Counts requests by key: those of a client across all replicas, or those of an address in this process. */
export type RateLimiter = {
  /**
   * Counts a request against the limit `perSecond`. If it is beyond the limit, throws or rejects with
   * ServiceError 429 with `Retry-After` (RFC 6585 section 4), and does not count it. Returns no promise if no
   * query is needed, so always await the result.
   */
  count(key: string, perSecond: number | undefined): Promise<void> | undefined;
};

/** A limiter that never needs a query. */
export type LocalRateLimiter = { count(key: string, perSecond: number | undefined): undefined };

const sweepAtKeys = 10_000;

/**
 * Creates a limiter of this process. It uses a sliding window, so that no period of one second exceeds the
 * limit.
 */
export function createRateLimiter(clock: Clock): LocalRateLimiter {
  const taken = new Map<string, number[]>();
  let nextSweepAt = 0;
  const forgetOld = (now: number) => {
    // Delays the next sweep. In a flood from many addresses, none would be old enough to delete.
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
      const [oldest = now] = recent;
      if (recent.length >= perSecond) throw tooMany(oldest + 1000 - now);
      recent.push(now);
      return undefined;
    },
  };
}
