import type { IncomingMessage } from 'node:http';
import { ServiceError } from './errors.ts';

/**
 * Returns the query of a request: the part of its target after the first `?`. Never throws. Does not parse
 * the rest of the target, because the authority in an absolute form (RFC 9112 section 3.2.2) may be
 * malformed.
 */
export function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

/**
 * Returns the Authorization header, or undefined if it is absent or empty.
 * @throws ServiceError 400 if the header occurs more than once (RFC 9110 section 5.3). Node would use the
 *   first header, but a proxy may have checked the second
 */
export function authorizationOf({
  rawHeaders,
  headers,
}: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string | undefined {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'authorization') count += 1;
  }
  if (count <= 1) return headers.authorization || undefined;
  throw new ServiceError({
    code: 'invalid_request',
    message: 'Send only one Authorization header',
    faults: [{ path: 'Authorization', message: 'must not be sent more than once', code: 'duplicate' }],
  });
}

const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * Returns true if a browser or a messenger sent the request in advance (prefetch, prerender or link preview).
 * No user sees the answer to such a request.
 */
export function isSpeculative({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return purposes.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? '')));
}

const documents = ['document', 'iframe', 'frame'];

/**
 * Returns whether a browser will show the answer in a window or a frame (`Sec-Fetch-Dest`, Fetch Metadata
 * Request Headers section 2.1). Returns undefined without the header, which old browsers, browsers on plain
 * http and programs do not send.
 */
export function isForDocument({ headers }: Pick<IncomingMessage, 'headers'>): boolean | undefined {
  const destination = headers['sec-fetch-dest'];
  return destination === undefined ? undefined : documents.includes(String(destination));
}

/**
 * Returns true if a browser sent the request but no user opens its answer: the request was sent in advance,
 * or a page or an extension loads the address as an image, a script or data. It must use nothing up.
 */
export function isUnopened(request: Pick<IncomingMessage, 'headers'>): boolean {
  return isSpeculative(request) || isForDocument(request) === false;
}
