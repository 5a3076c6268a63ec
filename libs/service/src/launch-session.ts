import type { CookieOptions, Request } from 'express';

/** The cookie that carries a launch session. Each launch has its own, under a path that names the launch. */
export const launchSessionCookie = 'launch-session';

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

/** The session ticket that the browser sent, if it sent one. */
export function readLaunchSessionCookie(request: Request): string | undefined {
  for (const pair of (request.get('cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === launchSessionCookie && value !== undefined && value !== '') return value;
  }
  return undefined;
}
