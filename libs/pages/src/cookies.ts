import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';

/** The maximum number of cookies with the same name, which limits the look-ups of a request. */
const maxCookies = 4;

/**
 * Returns the values of a cookie in the order in which the browser sent them, at most four. There are several
 * if another host has set a cookie with the same name for the parent domain. That must not lock the user out,
 * so callers try each value.
 */
export function readSentCookies(
  { headers }: Pick<IncomingMessage, 'headers'>,
  name: string,
): readonly string[] {
  return (
    (headers.cookie ?? '')
      .split(';')
      // Parsed separately, because a parser returns only one of several cookies with the same name.
      .flatMap((pair) => parseCookie(pair)[name] || [])
      .slice(0, maxCookies)
  );
}

/** Adds a `Set-Cookie` to an answer (RFC 6265 section 4.1). `maxAge` is in seconds. */
export function setCookie(response: ServerResponse, cookie: SetCookie): void {
  response.appendHeader('Set-Cookie', stringifySetCookie(cookie));
}
