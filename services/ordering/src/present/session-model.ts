import { localTime } from '@clinical-launch/contracts/time';

type SessionLife = { readonly idleSeconds: number; readonly lastSeconds: number };

/**
 * Returns the end of the session: the local time for the page, and the remaining seconds for the script.
 * `lastSeconds` is absent if the session has no absolute end.
 */
export function presentSession(
  { idleSeconds, lastSeconds }: SessionLife,
  { now, timeZone }: { readonly now: number; readonly timeZone: string },
) {
  const leftSeconds = Math.min(idleSeconds, lastSeconds);
  return {
    idleSeconds,
    ...(Number.isFinite(lastSeconds) ? { lastSeconds: Math.floor(lastSeconds) } : {}),
    until: localTime(now + leftSeconds * 1000, timeZone).slice(11, 16),
    // Whether a request can still extend the session.
    canExtend: lastSeconds > idleSeconds,
  };
}
