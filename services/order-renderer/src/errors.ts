import { preferredType, sendText, setHeaders } from '@clinical-launch/http/answer';
import { type ErrorDialect, problemDialect, ServiceError } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';

const retryAfterSeconds = 2;

/** Creates the error for a request without a valid launch session. */
export const sessionRequired = () =>
  new ServiceError({
    code: 'session_required',
    message: 'Your session has ended. Open the request again from your practice system.',
  });

/** Creates the error for an invalid GUID or version of an order. */
export const orderNotFound = () =>
  new ServiceError({
    code: 'order_not_found',
    message: 'Order not found. Open it again from your practice system.',
  });

/** Creates the error for a document that did not become available while the reader waited. */
export const documentNotReady = () =>
  new ServiceError({
    code: 'document_not_ready',
    message: 'Your order is being prepared. This page refreshes automatically.',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** The errors that need no reference for support, because their messages say what the user can do. */
const expected: ReadonlySet<string> = new Set(['session_required', 'document_not_ready']);

/** The errors whose messages are for users. The messages of all other errors are for developers. */
const forUsers: ReadonlySet<string> = new Set([...expected, 'order_not_found']);

/** Creates the dialect that answers errors as a page for a browser, and as problem details for a program. */
export function pageDialect({ pages, isProduction }: { pages: Pages; isProduction: boolean }): ErrorDialect {
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });
  const problem = problemDialect({ isProduction });
  return (error, exchange) => {
    const { request, response, call } = exchange;
    if (preferredType(request, ['application/problem+json', 'text/html']) !== 'text/html')
      return problem(error, exchange);
    const page = pages.render('not-available.njk', {
      text: forUsers.has(error.code) ? error.message : 'Try again in a minute.',
      correlationId: expected.has(error.code) ? undefined : call.correlationId,
      refreshAfterSeconds: error.code === 'document_not_ready' ? retryAfterSeconds : undefined,
    });
    // Keeps the headers that a handler has set, because they name the origins that may frame the page.
    if (!response.hasHeader('Referrer-Policy')) setHeaders(response, headers);
    sendText(response, 'text/html', page);
  };
}
