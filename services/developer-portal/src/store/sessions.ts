import { randomBytes } from 'node:crypto';
import type { Clock } from '@clinical-launch/runtime/clock';
import { LRUCache } from 'lru-cache';
import { addressSeconds, sessionSeconds } from '../domain/session-times.ts';

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

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Creates the store of sessions. The store is in memory, so sessions end when the process stops. Identifiers
 * are 256 random bits.
 */
export function createSessions(clock: Clock) {
  const waiting = createEntries(clock, addressSeconds * 1000);
  const open = createEntries(clock, sessionSeconds * 1000);
  return {
    /** Returns the code that opens a session once, within a minute. */
    begin: waiting.add,

    /** Returns the session that a code would open. */
    findWaiting: waiting.find,

    /** Opens a session. Returns its identifier, or undefined if the code is unknown, used or expired. */
    open(code: string): string | undefined {
      const session = waiting.find(code);
      waiting.remove(code);
      return session && open.add(session);
    },

    /**
     * Returns the session with an identifier. A session expires with its token, and after eight hours at the
     * latest.
     */
    find: open.find,

    /** Returns true at most once a minute for a session whose token may have been revoked meanwhile. */
    isDue: open.isDue,

    end: open.remove,
  };
}

type Entry = { readonly session: DeveloperSession; readonly until: number; checkedAt: number };

/** The milliseconds for which a token is assumed not to be revoked. */
const checkedMs = 60_000;

function createEntries(clock: Clock, lifetimeMs: number) {
  const entries = new LRUCache<string, Entry>({ max: maxSessions });
  return {
    add: (session: DeveloperSession): string => {
      const own = [...entries].filter(([, one]) => one.session.clientId === session.clientId);
      for (const [oldest] of own.slice(maxSessionsOfClient - 1)) entries.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      entries.set(id, {
        session,
        until: Math.min(session.expiresAt, clock.now() + lifetimeMs),
        checkedAt: clock.now(),
      });
      return id;
    },
    find: (id: string): DeveloperSession | undefined => {
      const found = entries.get(id);
      return found !== undefined && found.until > clock.now() ? found.session : undefined;
    },
    isDue: (id: string): boolean => {
      const found = entries.get(id);
      if (found === undefined || clock.now() - found.checkedAt < checkedMs) return false;
      found.checkedAt = clock.now();
      return true;
    },
    remove: (id: string): void => void entries.delete(id),
  };
}
