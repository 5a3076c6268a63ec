import type { Rates } from '@clinical-launch/tickets/redis';
import { tooMany } from '../http/errors.ts';
import type { RateLimiter } from '../http/rate-limit.ts';

/** Milliseconds in which a lease of several requests is used; then the rest is returned. */
const heldMs = 50;
/** A lease is a twentieth of the limit, so that a busy client costs at most about twenty leases a second. */
const leasesPerSecond = 20;

type Held = { left: number; readonly id: string; readonly giveBack: NodeJS.Timeout };

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

  const giveBack = (key: string, { id, left }: Pick<Held, 'id' | 'left'>) => {
    held.delete(key);
    // Requests that are not returned are allowed again after a second.
    if (left > 0) rates.giveBack(key, { id, unused: left }).catch(() => undefined);
  };
  const lease = async (key: string, perSecond: number) => {
    const wanted = Math.max(Math.ceil(perSecond / leasesPerSecond), waiting.get(key) ?? 1);
    const { id, granted, waitMs } = await rates.lease(key, { perSecond, wanted, heldMs });
    if (granted === 0) throw tooMany(waitMs);
    const taken: Held = {
      left: granted,
      id,
      giveBack: setTimeout(() => giveBack(key, taken), heldMs).unref(),
    };
    held.set(key, taken);
  };
  const startLease = (key: string, perSecond: number) => {
    const started = lease(key, perSecond).finally(() => leasing.delete(key));
    leasing.set(key, started);
    return started;
  };
  const use = (key: string): boolean => {
    const taken = held.get(key);
    if (taken === undefined) return false;
    taken.left -= 1;
    if (taken.left === 0) {
      clearTimeout(taken.giveBack);
      held.delete(key);
    }
    return true;
  };
  const waitForLease = async (key: string, perSecond: number) => {
    waiting.set(key, (waiting.get(key) ?? 0) + 1);
    try {
      while (!use(key)) await (leasing.get(key) ?? startLease(key, perSecond));
    } finally {
      const others = (waiting.get(key) ?? 1) - 1;
      if (others === 0) waiting.delete(key);
      else waiting.set(key, others);
    }
  };
  return {
    count: (key, perSecond) =>
      perSecond === undefined || use(key) ? undefined : waitForLease(key, perSecond),
  };
}
