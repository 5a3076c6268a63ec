import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readSentCookies, setCookie } from '@clinical-launch/pages/cookies';
import { launchSessionCookieOptions } from '@clinical-launch/pages/launch-session';

/**
 * Returns the name of the cookie that all windows of one browser share, or all frames of one storage
 * partition. The value is random, authenticates nobody, and contains nothing about the user.
 */
const browserCookie = (isSecure: boolean) => (isSecure ? '__Secure-browser' : 'browser');

/** Returns the keys of the browsers whose cookies a request contains. The database stores only these keys. */
export const readBrowserKeys = (request: IncomingMessage, isSecure: boolean): readonly string[] =>
  readSentCookies(request, browserCookie(isSecure)).map(keyOf);

/** A browser that is not stored yet. */
export type NewBrowser = { readonly key: string; readonly cookie: string };

export function createBrowser(): NewBrowser {
  const cookie = randomBytes(32).toString('base64url');
  return { key: keyOf(cookie), cookie };
}

type CookieOptions = { readonly isSecure: boolean; readonly isFramed: boolean };

/**
 * Sets the cookie for the paths of all launches. It ends with the browser session.
 */
export function setBrowserCookie(
  response: ServerResponse,
  { cookie }: NewBrowser,
  { isSecure, isFramed }: CookieOptions,
): void {
  const options = launchSessionCookieOptions({ path: '/oltr/', isSecure, isFramed });
  setCookie(response, { name: browserCookie(isSecure), value: cookie, ...options });
}

const keyOf = (cookie: string) => createHash('sha256').update(cookie).digest('hex');
