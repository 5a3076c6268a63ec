import type { IncomingMessage } from 'node:http';
import { ServiceError } from './errors.ts';

/**
 * Returns the query of a request: everything after the first `?` of its target. Never throws. The rest of the
 * target is not parsed, because an absolute form (RFC 9112 section 3.2.2) may have an authority that is not a
 * URL.
 */
export function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

/**
 * Returns the Authorization header, or undefined without one. Node uses the first of two, but a proxy may
 * have checked the second.
 * @throws ServiceError 400 when there is more than one (RFC 9110 section 5.3)
 */
export function authorizationOf({
  rawHeaders,
  headers,
}: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string | undefined {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'authorization') count += 1;
  }
  if (count <= 1) return headers.authorization;
  throw new ServiceError({
    code: 'invalid_request',
    message: 'Send only one Authorization header',
    faults: [{ path: 'Authorization', message: 'must not be sent more than once', code: 'duplicate' }],
  });
}

const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * Returns whether a browser or a messenger fetches a page ahead of its user: prefetch, prerender, link
 * preview. No user sees the answer.
 */
export function isSpeculative({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return purposes.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? '')));
}
