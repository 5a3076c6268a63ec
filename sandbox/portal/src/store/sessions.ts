import { randomBytes } from 'node:crypto';
import type { Clock } from '@clinical-launch/runtime/clock';
import { LRUCache } from 'lru-cache';

/** The session of a developer, who is signed in for one sandbox client. */
export type DeveloperSession = {
  readonly clientId: string;
  /** The access token of the client, with which the portal sends requests for the developer. */
  readonly accessToken: string;
  /** The credentials that the client had when the session was requested. */
  readonly credentials: readonly string[];
  /** The time at which the token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
};

const maxSessions = 1000;
/** The maximum number of sessions of a client, so that one client cannot end the sessions of the others. */
const maxSessionsOfClient = 50;

/** The milliseconds for which a token is assumed not to be revoked. A revoked session ends within a minute. */
const checkedMs = 59_000;

/**
 * Creates the store of sessions. The store is in memory, so sessions end when the process stops. Identifiers
 * are 256 random bits.
 */
export function createSessions(clock: Clock) {
  const options = { max: maxSessions, perf: clock, ttlResolution: 0 };
  const waiting = new LRUCache<string, DeveloperSession>({ ...options, ttl: addressSeconds * 1000 });
  const open = new LRUCache<string, DeveloperSession>({ ...options, ttl: sessionSeconds * 1000 });
  const checked = new LRUCache<string, true>({ ...options, ttl: checkedMs });

  const add = (entries: typeof open, session: DeveloperSession): string => {
    const own = [...entries].filter(([, { clientId }]) => clientId === session.clientId);
    for (const [oldest] of own.slice(maxSessionsOfClient - 1)) entries.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    // A time of 0 would mean that the entry never expires.
    entries.set(id, session, { ttl: Math.max(1, Math.min(entries.ttl, session.expiresAt - clock.now())) });
    return id;
  };

  return {
    /** Returns the code that opens a session once, within a minute. */
    begin: (session: DeveloperSession) => add(waiting, session),

    /** Returns the session that a code would open. */
    findWaiting: (code: string) => waiting.get(code),

    /** Opens a session. Returns its identifier, or undefined if the code is unknown, used or expired. */
    open(code: string): string | undefined {
      const session = waiting.get(code);
      waiting.delete(code);
      const id = session && add(open, session);
      if (id !== undefined) checked.set(id, true);
      return id;
    },

    /**
     * Returns the session with an identifier. A session expires with its token, and after eight hours at the
     * latest.
     */
    find: (id: string) => open.get(id),

    /** Returns true at most once a minute for a session whose token may have been revoked meanwhile. */
    isDue(id: string): boolean {
      const isDue = !checked.has(id);
      if (isDue) checked.set(id, true);
      return isDue;
    },

    end: (id: string) => open.delete(id),
  };
}

/** The lifetime in seconds of the one-time address that opens a session. */
export const addressSeconds = 60;
/** The maximum lifetime in seconds of a session. */
const sessionSeconds = 8 * 3600;
