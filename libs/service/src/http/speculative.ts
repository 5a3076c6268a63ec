import type { Request } from 'express';

/**
 * Whether a browser or a messenger fetches a page ahead of its user: prefetch, prerender, link preview. Nobody is
 * looking at the answer, and nobody may.
 */
export function isSpeculative(request: Pick<Request, 'get'>): boolean {
  const purpose = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']
    .map((name) => request.get(name) ?? '')
    .join(' ');
  return /prefetch|prerender|preview/i.test(purpose);
}
