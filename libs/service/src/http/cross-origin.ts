import type { RequestHandler } from 'express';

/**
 * Lets pages of any origin read the answers (WHATWG Fetch, CORS protocol): browser-based SMART clients ask from their
 * own. Without credentials: nothing here is told by a cookie.
 */
export function allowAnyOrigin(...methods: string[]): RequestHandler {
  return (request, response, next) => {
    response.set({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'X-Correlation-Id, Retry-After, WWW-Authenticate',
    });
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
