import { randomBytes } from 'node:crypto';
import type { Clock } from '@clinical-launch/runtime/clock';
import { LRUCache } from 'lru-cache';
import { addressSeconds, sessionSeconds } from '../domain/session-times.ts';

/** The session of a developer, who is signed in for one sandbox client. */
export type DeveloperSession = {
  readonly clientId: string;
  /** The access token of the client, with which the portal sends requests for the developer. */
  readonly accessToken: string;
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

    /** Opens a session. Returns its identifier, or undefined if the code is unknown, used or expired. */
    open(code: string): string | undefined {
      const session = waiting.find(code);
      waiting.remove(code);
      return session && open.add(session);
    },

    /** Returns the session with an identifier. A session expires eight hours after it was opened. */
    find: open.find,

    /** Ends a session. */
    end: open.remove,
  };
}

function createEntries(clock: Clock, lifetimeMs: number) {
  const entries = new LRUCache<string, { readonly session: DeveloperSession; readonly until: number }>({
    max: maxSessions,
  });
  return {
    add: (session: DeveloperSession): string => {
      const own = [...entries].filter(([, one]) => one.session.clientId === session.clientId);
      for (const [oldest] of own.slice(maxSessionsOfClient - 1)) entries.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      entries.set(id, { session, until: clock.now() + lifetimeMs });
      return id;
    },
    find: (id: string): DeveloperSession | undefined => {
      const found = entries.get(id);
      return found !== undefined && found.until > clock.now() ? found.session : undefined;
    },
    remove: (id: string): void => void entries.delete(id),
  };
}
