import { parseCookie } from 'cookie';
import type { Request } from 'express';

/** The number of cookies of one name that are tried, which limits the look-ups of a request. */
const mostCookies = 4;

/**
 * Returns the values of a cookie that the browser sent, at most four, in its order. There are several if a
 * neighbouring host has set a cookie of the same name for the parent domain. That must not lock the user out,
 * so callers try each.
 */
export function readSentCookies(request: Pick<Request, 'get'>, name: string): readonly string[] {
  return (
    (request.get('cookie') ?? '')
      .split(';')
      // Each separately, because a parser returns only one of several cookies of one name.
      .flatMap((pair) => parseCookie(pair)[name] || [])
      .slice(0, mostCookies)
  );
}
