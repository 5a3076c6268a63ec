import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';

/** The number of cookies of one name that are tried, which limits the look-ups of a request. */
const maxCookies = 4;

/**
 * Returns the values of a cookie that the browser sent, at most four, in its order. There are several if a
 * neighbouring host has set a cookie of the same name for the parent domain. That must not lock the user out,
 * so callers try each.
 */
export function readSentCookies(
  { headers }: Pick<IncomingMessage, 'headers'>,
  name: string,
): readonly string[] {
  return (
    (headers.cookie ?? '')
      .split(';')
      // Each separately, because a parser returns only one of several cookies of one name.
      .flatMap((pair) => parseCookie(pair)[name] || [])
      .slice(0, maxCookies)
  );
}

/** Adds a `Set-Cookie` to an answer (RFC 6265 section 4.1). `maxAge` is in seconds. */
export function setCookie(response: ServerResponse, cookie: SetCookie): void {
  response.appendHeader('Set-Cookie', stringifySetCookie(cookie));
}
