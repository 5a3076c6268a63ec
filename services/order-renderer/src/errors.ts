import { type ErrorDialect, ServiceError } from '@clinical-launch/service/http';
import { messagePage } from './views/pages.ts';

const retryAfterSeconds = 2;

/** There is no live launch session behind the request. */
export const sessionRequired = () =>
  new ServiceError({
    status: 401,
    code: 'session_required',
    message: 'Your session has ended. Open the request again from your practice system.',
  });

/** There is no such order, or it is not of this launch; the answer does not say which. */
export const orderNotFound = () =>
  new ServiceError({
    status: 404,
    code: 'order_not_found',
    message: 'There is no such order in this session.',
  });

/** The document was not made within the time that a reader waits for it. */
export const documentNotReady = () =>
  new ServiceError({
    status: 503,
    code: 'document_not_ready',
    message: 'The order document is still being made. This page asks again by itself.',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** Errors as pages; in production the GUID of a failure is in the header alone (OLTR: Errors). */
export function pageDialect({ isProduction }: { isProduction: boolean }): ErrorDialect {
  return (error, { response, call }) => {
    const isFailure = error.status >= 500 && error.code !== 'document_not_ready';
    const page = messagePage({
      message: error.message,
      ...(error.code === 'document_not_ready' ? { refreshAfterSeconds: retryAfterSeconds } : {}),
      ...(isFailure && !isProduction ? { correlationId: call.correlationId } : {}),
    });
    response.type('html').send(page);
  };
}
