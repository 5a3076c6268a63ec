import { sendText } from '@clinical-launch/http/answer';
import { type ErrorDialect, ServiceError } from '@clinical-launch/http/errors';
import { messagePage } from './views/pages.ts';

const retryAfterSeconds = 2;

/** Creates the error for a request without a valid launch session. */
export const sessionRequired = () =>
  new ServiceError({
    code: 'session_required',
    message: 'Your session has ended. Open the request again from your practice system.',
  });

/**
 * Creates the error for an invalid GUID or version of an order.
 */
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

/**
 * Creates the dialect that answers errors as pages. In production, only the header contains the GUID of a
 * failure (OLTR: Errors).
 */
export function pageDialect({ isProduction }: { isProduction: boolean }): ErrorDialect {
  return (error, { response, call }) => {
    const isFailure = error.status >= 500 && error.code !== 'document_not_ready';
    const page = messagePage({
      message: error.message,
      ...(error.code === 'document_not_ready' ? { refreshAfterSeconds: retryAfterSeconds } : {}),
      ...(isFailure && !isProduction ? { correlationId: call.correlationId } : {}),
    });
    sendText(response, 'text/html', page);
  };
}
