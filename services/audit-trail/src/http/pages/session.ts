import type { Sealer } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { readSentCookies } from '@clinical-launch/service/pages';
import type { Request, Response } from 'express';

/** A member of staff who signed in. */
export type Staff = {
  /** The issuer's name for this person. */
  readonly subject: string;
  readonly username: string;
  readonly name: string;
  /** Whether this person may read the audit trail. */
  readonly mayRead: boolean;
};

type Session = Staff & {
  /** When the person signed in, and when the last page was answered; milliseconds since 1970. */
  readonly begunAt: number;
  readonly usedAt: number;
};

/** A sign-in that this browser began. */
export type BegunSignIn = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The page to return to, below `/audit/`. */
  readonly returnTo: string;
};

const minuteMs = 60_000;
/** A session ends after this time without a page, and this long after the sign-in. */
const idleMs = 30 * minuteMs;
const lifetimeMs = 8 * 60 * minuteMs;
const signInMs = 15 * minuteMs;

export type Sessions = {
  /** Returns who is signed in, and extends the session. */
  find(request: Request, response: Response): Staff | undefined;
  open(response: Response, staff: Staff): void;
  close(response: Response): void;
  begin(response: Response, signIn: BegunSignIn): void;
  /** Returns the sign-ins that this browser began, and forgets them. */
  takeBegun(request: Request, response: Response): readonly BegunSignIn[];
};

type SessionOptions = { readonly sealer: Sealer; readonly clock: Clock; readonly isSecure: boolean };

/**
 * Creates the sessions of the pages. A session is a cookie that only this service can make and read: it has
 * the person and two times, and no token. No server stores it, so any replica knows it; signing out removes
 * it from the browser. Scripts cannot read it, and it is sent only below `/audit`, for which reason it cannot
 * have the prefix `__Host-`.
 */
export function createSessions({ sealer, clock, isSecure }: SessionOptions): Sessions {
  const prefix = isSecure ? '__Secure-' : '';
  const [sessionCookie, signInCookie] = [`${prefix}audit-session`, `${prefix}audit-sign-in`];
  const options = { path: '/audit', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;

  const set = (response: Response, name: string, value: object) =>
    response.cookie(name, sealer.seal(name, value, []), options);
  const openAll = <Value>(request: Request, name: string): Value[] =>
    readSentCookies(request, name).flatMap((sealed) => {
      try {
        // Only this service seals these values.
        return [sealer.open(name, sealed, []) as Value];
      } catch {
        return [];
      }
    });

  return {
    find(request, response) {
      const now = clock.now();
      const session = openAll<Session>(request, sessionCookie).find(
        ({ begunAt, usedAt }) => now - begunAt < lifetimeMs && now - usedAt < idleMs,
      );
      if (session === undefined) return undefined;
      if (now - session.usedAt >= minuteMs) set(response, sessionCookie, { ...session, usedAt: now });
      return session;
    },
    open(response, staff) {
      const now = clock.now();
      set(response, sessionCookie, { ...staff, begunAt: now, usedAt: now });
    },
    close: (response) => void response.clearCookie(sessionCookie, options),
    begin: (response, signIn) => void set(response, signInCookie, { ...signIn, at: clock.now() }),
    takeBegun(request, response) {
      response.clearCookie(signInCookie, options);
      const now = clock.now();
      return openAll<BegunSignIn & { at: number }>(request, signInCookie).filter(
        ({ at }) => now - at < signInMs,
      );
    },
  };
}
