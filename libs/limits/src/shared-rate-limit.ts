import { tooMany } from '@clinical-launch/http/errors';
import type { RateLimiter } from './rate-limit.ts';
import type { Rates } from './redis-rates.ts';

/** Milliseconds in which a lease of several requests is used; then the rest is returned. */
const heldMs = 50;
/** A lease is a twentieth of the limit, so that a busy client costs at most about twenty leases a second. */
const leasesPerSecond = 20;

type Held = {
  left: number;
  readonly id: string;
  /** The moment after which a request is made too late for it, in milliseconds since the process began. */
  readonly endsAt: number;
  readonly end: NodeJS.Timeout;
};

/**
 * Creates a limiter that all replicas share. A client without a limit costs nothing. A client with a limit
 * costs a round trip for each lease, which is for one request below twenty a second. A process holds a
 * twentieth of the limit for at most 50 ms, so other replicas may refuse that much early; together they never
 * accept more than the limit in any one second.
 */
export function createSharedRateLimiter(rates: Rates): RateLimiter {
  const held = new Map<string, Held>();
  const leasing = new Map<string, Promise<void>>();
  const waiting = new Map<string, number>();

  const giveBack = (key: string, { id, left, end }: Held) => {
    clearTimeout(end);
    held.delete(key);
    // Requests that are not returned are allowed again after a second.
    if (left > 0) rates.giveBack(key, { id, unused: left }).catch(() => undefined);
  };
  const lease = async (key: string, perSecond: number) => {
    const wanted = Math.max(Math.ceil(perSecond / leasesPerSecond), waiting.get(key) ?? 1);
    // Redis counts from a moment after this one.
    const askedAt = performance.now();
    const { id, granted, waitMs } = await rates.lease(key, { perSecond, wanted, heldMs });
    if (granted === 0) throw tooMany(waitMs);
    const taken: Held = {
      left: granted,
      id,
      endsAt: granted > 1 ? askedAt + heldMs : askedAt,
      // A timer for each lease, which its use clears: neither a loop nor a time-out.
      end: setTimeout(() => giveBack(key, taken), heldMs).unref(),
    };
    held.set(key, taken);
  };
  const startLease = (key: string, perSecond: number) => {
    const started = lease(key, perSecond).finally(() => leasing.delete(key));
    leasing.set(key, started);
    return started;
  };
  const use = (key: string, madeAt: number): boolean => {
    const taken = held.get(key);
    if (taken === undefined) return false;
    // The timer of a busy process is late.
    const isInTime = madeAt <= taken.endsAt;
    if (isInTime) taken.left -= 1;
    if (!isInTime || taken.left === 0) giveBack(key, taken);
    return isInTime;
  };
  const waitForLease = async (key: string, perSecond: number, madeAt: number) => {
    waiting.set(key, (waiting.get(key) ?? 0) + 1);
    try {
      while (!use(key, madeAt)) await (leasing.get(key) ?? startLease(key, perSecond));
    } finally {
      const others = (waiting.get(key) ?? 1) - 1;
      if (others === 0) waiting.delete(key);
      else waiting.set(key, others);
    }
  };
  return {
    count(key, perSecond) {
      if (perSecond === undefined) return undefined;
      const madeAt = performance.now();
      return use(key, madeAt) ? undefined : waitForLease(key, perSecond, madeAt);
    },
  };
}
