import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { temporarilyUnavailable } from '@clinical-launch/http/errors';
import { readSentCookies, setCookie } from '@clinical-launch/pages/cookies';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';

export type Staff = {
  /** The issuer's `sub` claim for this person. */
  readonly subject: string;
  readonly username: string;
  readonly name: string;
  /** Whether this person may read the audit trail. */
  readonly mayRead: boolean;
};

type Session = Staff & {
  readonly id: string;
  /** The times of the sign-in and of the last request, in milliseconds since 1970. */
  readonly begunAt: number;
  readonly usedAt: number;
};

export type BegunSignIn = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The page to return to, below `/audit/`. */
  readonly returnTo: string;
};

const minuteMs = 60_000;
/** A session ends after `idleMs` without a request, and `lifetimeMs` after the sign-in. */
const idleMs = 30 * minuteMs;
const lifetimeMs = 8 * 60 * minuteMs;
const signInMs = 15 * minuteMs;

/** The sessions ended by signing out. Each is stored until it would have expired. */
export type EndedSessions = Pick<RevokedTokens, 'revoke' | 'has'>;

export type Sessions = ReturnType<typeof createSessions>;

type SessionOptions = {
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly endedSessions: EndedSessions;
  readonly isSecure: boolean;
};

/**
 * Creates the sessions of the pages. A session is a cookie that only this service can create and read. It
 * contains the person, a random id and two timestamps, but no token. No server stores it, so every replica
 * accepts it. All replicas read the list of sessions ended by signing out. Scripts cannot read the cookie.
 * Browsers send it only below `/audit`, so it cannot have the prefix `__Host-`.
 */
export function createSessions({ sealer, clock, endedSessions, isSecure }: SessionOptions) {
  const prefix = isSecure ? '__Secure-' : '';
  const [sessionCookie, signInCookie] = [`${prefix}audit-session`, `${prefix}audit-sign-in`];
  const options = { path: '/audit', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;

  const set = (response: ServerResponse, name: string, value: object) =>
    setCookie(response, { name, value: sealer.seal(name, value, []), ...options });
  const forget = (response: ServerResponse, name: string) =>
    setCookie(response, { name, value: '', expires: new Date(0), ...options });
  const openAll = <Value>(request: IncomingMessage, name: string): Value[] =>
    readSentCookies(request, name).flatMap((sealed) => {
      try {
        // The cast is safe, because only this service seals these values.
        return [sealer.open(name, sealed, []) as Value];
      } catch {
        return [];
      }
    });

  /** Returns the sessions of a request that have not expired, with their ids. */
  const liveSessions = (request: IncomingMessage, now: number) =>
    openAll<Session>(request, sessionCookie).filter(
      ({ begunAt, usedAt }) => now - begunAt < lifetimeMs && now - usedAt < idleMs,
    );

  return {
    /**
     * Returns the signed-in member of staff and extends the session.
     * @throws Unavailable if the ended sessions cannot be read
     */
    async find(request: IncomingMessage, response: ServerResponse): Promise<Staff | undefined> {
      const now = clock.now();
      for (const session of liveSessions(request, now)) {
        if (await endedSessions.has(session.id)) continue;
        if (now - session.usedAt >= minuteMs) set(response, sessionCookie, { ...session, usedAt: now });
        return session;
      }
      return undefined;
    },
    open(response: ServerResponse, staff: Staff): void {
      const now = clock.now();
      set(response, sessionCookie, { ...staff, id: randomUUID(), begunAt: now, usedAt: now });
    },
    /**
     * Ends the session for this browser and for every copy of its cookie.
     * @throws Unavailable if the end cannot be stored. The session then continues
     */
    async close(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const now = clock.now();
      for (const { id, subject, begunAt } of liveSessions(request, now)) {
        // When the entry expires, every copy of the cookie has also expired, because no request extends a
        // copy from now on. Adds a minute, because the clocks of other replicas may differ.
        const endsInMs = Math.min(idleMs, begunAt + lifetimeMs - now) + minuteMs;
        const ending = { owner: subject, forSeconds: endsInMs / 1000, events: [] };
        const ended = await endedSessions.revoke(id, ending);
        if (ended.outcome === 'full') throw temporarilyUnavailable('You signed out too often', ended);
      }
      forget(response, sessionCookie);
    },
    begin: (response: ServerResponse, signIn: BegunSignIn) =>
      set(response, signInCookie, { ...signIn, at: clock.now() }),
    /** Returns the sign-ins that this browser started, and deletes their cookie. */
    takeBegun(request: IncomingMessage, response: ServerResponse): readonly BegunSignIn[] {
      forget(response, signInCookie);
      const now = clock.now();
      return openAll<BegunSignIn & { at: number }>(request, signInCookie).filter(
        ({ at }) => now - at < signInMs,
      );
    },
  };
}
