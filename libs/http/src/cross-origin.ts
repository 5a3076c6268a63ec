import type { RequestHandler } from 'express';
import { setHeaders } from './answer.ts';

/** The headers with which pages of any origin may read an answer. */
export const anyOriginHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Correlation-Id, Retry-After, WWW-Authenticate',
};

/**
 * Lets pages of any origin read the answers (WHATWG Fetch, CORS protocol), because browser-based SMART
 * clients send requests from their own origin. Without credentials, because no answer depends on a cookie.
 */
export function allowAnyOrigin(...methods: string[]): RequestHandler {
  return (request, response, next) => {
    setHeaders(response, anyOriginHeaders);
    if (request.method !== 'OPTIONS' || request.get('access-control-request-method') === undefined)
      return next();
    response
      .set({
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP, traceparent',
        'Access-Control-Max-Age': '600',
      })
      .status(204)
      .end();
  };
}
