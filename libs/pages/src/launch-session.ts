import type { IncomingMessage } from 'node:http';
import { type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { stringifySetCookie } from 'cookie';
import { readSentCookies } from './cookies.ts';

/**
 * Returns the name of the cookie for a launch session. Each launch has its own cookie, whose path contains
 * the launch id. So the prefix `__Host-`, which requires the path `/`, cannot be used. Browsers accept a name
 * with `__Secure-` only over https (RFC 6265bis section 4.1.3.1), so a host of the same site without TLS
 * cannot set it.
 * @param isSecure whether the platform is served by https
 */
export const launchSessionCookie = (isSecure: boolean) =>
  isSecure ? '__Secure-launch-session' : 'launch-session';

/** The seconds without a request after which a launch session ends. */
export const launchSessionIdleSeconds = 30 * 60;

type SessionCookieOptions = {
  readonly path: string;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /** Whether pages of another site may frame the application, so that the cookie must be sent in frames. */
  readonly isFramed: boolean;
};

/**
 * Returns the options of the session cookie. It ends with the browser session and is hidden from scripts. It
 * is sent only to the path of one launch (or one order), so that tabs with different patients are never
 * confused.
 */
export function launchSessionCookieOptions({ path, isSecure, isFramed }: SessionCookieOptions) {
  const shared = { path, httpOnly: true, secure: isSecure };
  return isFramed && isSecure
    ? ({ ...shared, sameSite: 'none', partitioned: true } as const)
    : ({ ...shared, sameSite: 'lax' } as const);
}

/** Returns the `Set-Cookie` value that opens a session (RFC 6265 section 4.1). */
export const openSessionCookie = (ticket: string, options: SessionCookieOptions): string =>
  stringifySetCookie({
    name: launchSessionCookie(options.isSecure),
    value: ticket,
    ...launchSessionCookieOptions(options),
  });

/** A live launch session of a browser. */
export type LaunchSession = {
  readonly ticket: string;
  readonly context: LaunchContext;
  /** The seconds until its absolute end, which requests do not extend. */
  readonly endsInSeconds: number;
};

type SessionSearch = {
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /** The seconds by which found sessions are extended from now. If absent, none is extended. */
  readonly extendSeconds?: number;
};

/**
 * Finds the live launch sessions of a browser, in the order of its cookies. There are several if another host
 * has set such a cookie, so callers must choose.
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
