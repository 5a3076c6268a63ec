import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';

/** The maximum number of cookies with the same name. It limits the look-ups for one request. */
const maxCookies = 4;

/**
 * Returns the values of at most four cookies with a name, in the order in which the browser sent them. A host
 * of the same parent domain may have set a second cookie with this name. Callers must try each value, so that
 * such a cookie does not lock the user out.
 */
export function readSentCookies(
  { headers }: Pick<IncomingMessage, 'headers'>,
  name: string,
): readonly string[] {
  return (
    (headers.cookie ?? '')
      .split(';')
      // Parses each cookie separately, because `parseCookie` returns only one of several cookies with the
      // same name.
      .flatMap((pair) => parseCookie(pair)[name] || [])
      .slice(0, maxCookies)
  );
}

/** Adds a header `Set-Cookie` to an answer (RFC 6265 section 4.1). `maxAge` is in seconds. */
export function setCookie(response: ServerResponse, cookie: SetCookie): void {
  response.appendHeader('Set-Cookie', stringifySetCookie(cookie));
}
