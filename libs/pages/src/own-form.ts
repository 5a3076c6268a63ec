import type { IncomingMessage } from 'node:http';

/**
 * Returns true if a form was sent by a page of this origin, and not by a page of another site in the same
 * browser. Browsers send the origin of a form in `Sec-Fetch-Site`, and older ones in `Origin`. A client that
 * sends neither is not a browser, so it has only its own cookies.
 */
export function isOwnForm({ headers }: Pick<IncomingMessage, 'headers'>, publicOrigin: string): boolean {
  const { 'sec-fetch-site': site, origin } = headers;
  return site === undefined
    ? origin === undefined || origin === publicOrigin
    : site === 'same-origin' || site === 'none';
}
