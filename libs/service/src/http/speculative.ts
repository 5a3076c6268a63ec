import type { Request } from 'express';

/**
 * Returns whether a browser or a messenger fetches a page ahead of its user: prefetch, prerender, link
 * preview. No user sees the answer.
 */
export function isSpeculative(request: Pick<Request, 'get'>): boolean {
  const purpose = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']
    .map((name) => request.get(name) ?? '')
    .join(' ');
  return /prefetch|prerender|preview/i.test(purpose);
}
