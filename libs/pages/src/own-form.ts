import type { IncomingMessage } from 'node:http';

/**
 * Returns true unless a page of another origin sent the form. This check prevents cross-site request forgery.
 * Browsers send `Sec-Fetch-Site`, and older browsers send `Origin`. A client that sends neither header is not
 * a browser, so no other site can use its cookies.
 */
export function isOwnForm({ headers }: Pick<IncomingMessage, 'headers'>, publicOrigin: string): boolean {
  const { 'sec-fetch-site': site, origin } = headers;
  return site === undefined
    ? origin === undefined || origin === publicOrigin
    : site === 'same-origin' || site === 'none';
}
