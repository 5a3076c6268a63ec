import { parseCookie } from 'cookie';
import type { CookieOptions, Request } from 'express';

/** How many cookies of one name are tried, so that a request costs no more than these look-ups. */
const mostCookies = 4;

/**
 * Returns the name of the cookie that carries a launch session. Each launch has its own, under a path that names the
 * launch, so the prefix `__Host-`, which needs the path `/`, cannot be used. Browsers accept a name with `__Secure-`
 * over https alone (RFC 6265bis section 4.1.3.1): a host of the same site without TLS cannot set one.
 * @param isSecure whether the platform is served by https
 */
export const launchSessionCookie = (isSecure: boolean) =>
  isSecure ? '__Secure-launch-session' : 'launch-session';

/** A launch session ends after this long without a request. */
export const launchSessionIdleSeconds = 30 * 60;

type SessionCookieOptions = {
  readonly path: string;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /** Whether pages of another site frame the application, so that the cookie must be sent there. */
  readonly isFramed: boolean;
};

/**
 * How the session cookie is set: it ends with the browser, scripts cannot read it, and it goes to one launch (or
 * one order) alone, so that two tabs with two patients never mix.
 */
export function launchSessionCookieOptions({
  path,
  isSecure,
  isFramed,
}: SessionCookieOptions): CookieOptions {
  const shared: CookieOptions = { path, httpOnly: true, secure: isSecure };
  return isFramed && isSecure
    ? { ...shared, sameSite: 'none', partitioned: true }
    : { ...shared, sameSite: 'lax' };
}

/**
 * Returns the session tickets that the browser sent, at most four, in its order. There is more than one when a
 * neighbouring host has set a cookie of the same name for the parent domain. That must not lock the user out, so
 * callers try each.
 */
export function readLaunchSessionCookies(request: Request, isSecure: boolean): readonly string[] {
  const expected = launchSessionCookie(isSecure);
  return (
    (request.get('cookie') ?? '')
      .split(';')
      // Each for itself: of several cookies of one name a parser returns one.
      .flatMap((pair) => parseCookie(pair)[expected] || [])
      .slice(0, mostCookies)
  );
}
