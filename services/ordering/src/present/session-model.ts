import { localTime } from '@clinical-launch/contracts/time';
import { writtenClock } from '@clinical-launch/contracts/written-time';

type SessionLife = { readonly idleSeconds: number; readonly lastSeconds: number };

/**
 * Returns what a page says about the end of its session: the local time, and for the script the seconds
 * until then. The absolute end is absent if the session has none.
 */
export function presentSession(
  { idleSeconds, lastSeconds }: SessionLife,
  { now, timeZone }: { readonly now: number; readonly timeZone: string },
) {
  const leftSeconds = Math.min(idleSeconds, lastSeconds);
  return {
    idleSeconds,
    ...(Number.isFinite(lastSeconds) ? { lastSeconds: Math.floor(lastSeconds) } : {}),
    until: writtenClock(localTime(now + leftSeconds * 1000, timeZone).slice(11, 16)),
    // Whether a request before then extends it.
    canExtend: lastSeconds > idleSeconds,
  };
}
