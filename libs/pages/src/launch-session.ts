import type { IncomingMessage } from 'node:http';
import { type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { stringifySetCookie } from 'cookie';
import { readSentCookies } from './cookies.ts';

/**
 * Returns the name of the cookie that contains a launch session. Each launch has its own, under a path that
 * names the launch, so the prefix `__Host-`, which requires the path `/`, cannot be used. Browsers accept a
 * name with `__Secure-` only over https (RFC 6265bis section 4.1.3.1): a host of the same site without TLS
 * cannot set one.
 * @param isSecure whether the platform is served by https
 */
export const launchSessionCookie = (isSecure: boolean) =>
  isSecure ? '__Secure-launch-session' : 'launch-session';

/** Seconds without a request after which a launch session ends. */
export const launchSessionIdleSeconds = 30 * 60;

type SessionCookieOptions = {
  readonly path: string;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /** Whether pages of another site frame the application, so that the cookie must be sent there. */
  readonly isFramed: boolean;
};

/**
 * Returns the options of the session cookie. It ends with the browser, scripts cannot read it, and it is sent
 * only to one launch (or one order), so that two tabs with two patients never mix.
 */
export function launchSessionCookieOptions({ path, isSecure, isFramed }: SessionCookieOptions) {
  const shared = { path, httpOnly: true, secure: isSecure };
  return isFramed && isSecure
    ? ({ ...shared, sameSite: 'none', partitioned: true } as const)
    : ({ ...shared, sameSite: 'lax' } as const);
}

/** Returns the `Set-Cookie` that opens a session (RFC 6265 section 4.1). */
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
  /** Seconds until its absolute end, which no request extends. */
  readonly endsInSeconds: number;
};

type SessionSearch = {
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /** Seconds from now until which each session found is extended; absent to extend none. */
  readonly extendSeconds?: number;
};

/**
 * Finds the live launch sessions of a browser, in the order of its cookies. There are several if a
 * neighbouring host has set such a cookie too, so callers choose.
 * @throws Unavailable when Redis does not answer
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

/** Returns the session tickets that the browser sent, in its order. */
export const readLaunchSessionCookies = (request: IncomingMessage, isSecure: boolean): readonly string[] =>
  readSentCookies(request, launchSessionCookie(isSecure));
