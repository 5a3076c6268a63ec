import type { IncomingMessage } from 'node:http';
import { type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { stringifySetCookie } from 'cookie';
import { readSentCookies } from './cookies.ts';

/**
 * Returns the name of the cookie for a launch session. Each launch has its own cookie, whose path contains
 * the launch id. The name prefix `__Host-` requires the path `/`, so it cannot be used. Browsers accept the
 * prefix `__Secure-` only over https (RFC 6265bis section 4.1.3.1), so a host of the same site without TLS
 * cannot set the cookie.
 * @param isSecure whether the platform is served by https
 */
export const launchSessionCookie = (isSecure: boolean) =>
  isSecure ? '__Secure-launch-session' : 'launch-session';

/** The seconds without a request after which a launch session ends. */
export const launchSessionIdleSeconds = 30 * 60;

type SessionCookieOptions = {
  readonly path: string;
  readonly isSecure: boolean;
  /**
   * True if pages of another site may frame the application. Browsers must then send the cookie in frames.
   */
  readonly isFramed: boolean;
};

/**
 * Returns the options of a cookie for the pages of launches. Scripts cannot read the cookie. Browsers send the
 * session cookie only to the path of one launch (or one order), so that tabs with different patients are never
 * confused.
 */
export function launchSessionCookieOptions({ path, isSecure, isFramed }: SessionCookieOptions) {
  const shared = { path, httpOnly: true, secure: isSecure };
  return isFramed && isSecure
    ? ({ ...shared, sameSite: 'none', partitioned: true } as const)
    : ({ ...shared, sameSite: 'lax' } as const);
}

/**
 * Returns the value of `Set-Cookie` that gives a browser its session (RFC 6265 section 4.1). The cookie ends
 * when the session ends without another request. Browsers store a limited number of cookies for a site, and
 * would otherwise delete the cookies of other applications.
 */
export const openSessionCookie = (
  { ticket, endsInSeconds }: Pick<LaunchSession, 'ticket' | 'endsInSeconds'>,
  options: SessionCookieOptions,
): string =>
  stringifySetCookie({
    name: launchSessionCookie(options.isSecure),
    value: ticket,
    maxAge: Math.ceil(Math.min(launchSessionIdleSeconds, endsInSeconds)),
    ...launchSessionCookieOptions(options),
  });

/** A launch session of a browser. The session has not ended. */
export type LaunchSession = {
  readonly ticket: string;
  readonly context: LaunchContext;
  /** The seconds until the absolute end of the session, which requests do not extend. */
  readonly endsInSeconds: number;
};

type SessionSearch = {
  readonly isSecure: boolean;
  /** Extends each found session to end in this many seconds. If absent, sessions are not extended. */
  readonly extendSeconds?: number;
};

/**
 * Finds the unexpired launch sessions of a browser, in the order of its cookies. If another host has set a
 * session cookie too, there may be several sessions, from which callers must choose.
 * @throws Unavailable if Redis does not answer
 */
export async function findLaunchSessions(
  tickets: Pick<Tickets, 'find'>,
  request: IncomingMessage,
  { isSecure, ...extending }: SessionSearch,
): Promise<readonly LaunchSession[]> {
  const sessions = await Promise.all(
    readLaunchSessionCookies(request, isSecure).map(async (ticket) => {
      const found = await tickets.find('launch-session', ticket, extending);
      if (found === undefined) return [];
      const { context, chainEndsInSeconds: endsInSeconds = Number.POSITIVE_INFINITY } = found;
      return [{ ticket, context: parseLaunchContext(context), endsInSeconds }];
    }),
  );
  return sessions.flat();
}

/** Returns the session tickets in the order in which the browser sent them. */
export const readLaunchSessionCookies = (request: IncomingMessage, isSecure: boolean): readonly string[] =>
  readSentCookies(request, launchSessionCookie(isSecure));
