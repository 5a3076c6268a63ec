import type { IncomingMessage } from 'node:http';

const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * Returns whether a browser or a messenger fetches a page ahead of its user: prefetch, prerender, link
 * preview. No user sees the answer.
 */
export function isSpeculative({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return purposes.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? '')));
}
