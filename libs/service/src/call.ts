import { randomBytes, randomUUID } from 'node:crypto';
import { type EventOrigin, guidPattern } from '@clinical-launch/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { createRequestMeter } from './metrics.ts';

/** What one inbound request knows of itself: on every log line, event and session that follows from it. */
export type Call = {
  readonly correlationId: string;
  readonly traceparent: string;
  readonly logger: Logger;
  /** What its events are signed with. */
  origin(source: string): EventOrigin;
  /** Goes on under the GUID of the launch that this request turned out to belong to. */
  adopt(correlationId: string): void;
};

/** RFC 9562 text form of a GUID, as it is accepted from a caller. */
export const guidForm = new RegExp(guidPattern);

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

const calls = new WeakMap<Response, Call>();

/**
 * Gives every request its GUID, answers it in `X-Correlation-Id`, honours `traceparent` (W3C Trace Context) and
 * logs the outcome: method, path without query, status, duration.
 */
export function correlate({ logger, clock }: { logger: Logger; clock: Clock }): RequestHandler {
  const measure = createRequestMeter();
  return (request, response, next) => {
    const call = createCall({ request, response, logger, clock });
    calls.set(response, call);
    const startedAt = performance.now();
    response.on('close', () => {
      const durationMs = performance.now() - startedAt;
      const { method } = request;
      const status = response.statusCode;
      call.logger.info(
        {
          method,
          path: request.originalUrl.split('?', 1)[0],
          status,
          complete: response.writableFinished,
          durationMs: Math.round(durationMs * 10) / 10,
        },
        'request answered',
      );
      // The route as it is written, never the path: each launch would be a series of its own.
      measure({ method, route: routeOf(request), status, seconds: durationMs / 1000 });
    });
    next();
  };
}

function routeOf({ route, baseUrl }: Request): string {
  const matched: unknown = route;
  const path =
    typeof matched === 'object' && matched !== null && 'path' in matched ? String(matched.path) : '/*';
  return `${baseUrl}${path}`;
}

/** The call that a response belongs to. @throws TypeError when `correlate` was not mounted before. */
export function callOf(response: Response): Call {
  const call = calls.get(response);
  if (call === undefined) throw new TypeError('Mount correlate() before the routes');
  return call;
}

function createCall({
  request,
  response,
  logger,
  clock,
}: {
  request: Request;
  response: Response;
  logger: Logger;
  clock: Clock;
}): Call {
  let correlationId: string;
  let callLogger: Logger;
  const file = (id: string) => {
    correlationId = id;
    callLogger = logger.child({ correlationId: id });
    if (!response.headersSent) response.setHeader('X-Correlation-Id', id);
  };
  file(randomUUID());
  const traceparent = continuedTrace(request.get('traceparent'));
  return {
    get correlationId() {
      return correlationId;
    },
    get logger() {
      return callLogger;
    },
    traceparent,
    origin: (source) => ({ source, correlationId, traceparent, now: new Date(clock.now()) }),
    adopt(launchId) {
      callLogger.info({ launchId }, 'belongs to a launch');
      file(launchId);
    },
  };
}

function continuedTrace(parent: string | undefined): string {
  const spanId = randomBytes(8).toString('hex');
  if (parent === undefined || !traceparentForm.test(parent))
    return `00-${randomBytes(16).toString('hex')}-${spanId}-01`;
  return `00-${parent.slice(3, 35)}-${spanId}-${parent.slice(-2)}`;
}
