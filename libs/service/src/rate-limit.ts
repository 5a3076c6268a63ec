import type { Clock } from './clock.ts';
import { ServiceError } from './errors.ts';

/** Counts requests by key (a client, an address) within this process. */
export type RateLimiter = {
  /**
   * Counts one request against `perSecond` in any one second.
   * @throws ServiceError 429 with `Retry-After` (RFC 6585 section 4) when it is one too many; it is not counted then.
   */
  count(key: string, perSecond: number | undefined): void;
};

const sweepAtKeys = 10_000;

/** Creates a limiter: a sliding window, so that no second holds more than the limit wherever it begins. */
export function createRateLimiter(clock: Clock): RateLimiter {
  const taken = new Map<string, number[]>();
  const forgetOld = (now: number) => {
    for (const [key, times] of taken) if ((times.at(-1) ?? 0) <= now - 1000) taken.delete(key);
  };
  return {
    count(key, perSecond) {
      if (perSecond === undefined) return;
      const now = clock.now();
      if (taken.size > sweepAtKeys) forgetOld(now);
      const recent = (taken.get(key) ?? []).filter((time) => time > now - 1000);
      taken.set(key, recent);
      const [oldest = now] = recent;
      if (recent.length >= perSecond) throw tooMany(oldest + 1000 - now);
      recent.push(now);
    },
  };
}

const tooMany = (waitMs: number) =>
  new ServiceError({
    status: 429,
    code: 'too_many_requests',
    message: 'Too many requests: wait as long as Retry-After says',
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
