import { randomUUID } from 'node:crypto';
import { drawBytes, type EventOrigin, guidPattern } from '@clinical-launch/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { createRequestMeter } from '../metrics.ts';
import type { Refusals } from '../process/refusals.ts';

/** What one inbound request knows of itself: on every log line, event and session that follows from it. */
export type Call = {
  readonly correlationId: string;
  readonly traceparent: string;
  readonly logger: Logger;
  /** What its events are signed with. */
  origin(source: string): EventOrigin;
  /** Goes on under the GUID of the launch that this request turned out to belong to. */
  adopt(correlationId: string): void;
  /** Names the caller once it is verified: a registered client, or a live session. */
  identify(caller: string): void;
  /** The verified caller, if there is one. */
  readonly identity: string | undefined;
  /** Whether neither a caller nor a launch is known. */
  readonly isAnonymous: boolean;
  /** Counts and audits refusals in this process; absent where no service is. */
  readonly refusals: Refusals | undefined;
};

/** RFC 9562 text form of a GUID, as it is accepted from a caller. */
export const guidForm = new RegExp(guidPattern);

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

type CallParts = { readonly logger: Logger; readonly clock: Clock; readonly refusals?: Refusals | undefined };

const calls = new WeakMap<Response, Call>();

/**
 * Gives every request its GUID, answers it in `X-Correlation-Id`, honours `traceparent` (W3C Trace Context) and
 * logs the outcome: method, route, status, duration. An address that no route matches is logged as `unknown`, never as
 * it was sent: a client that encodes its `?` puts its token into the path.
 */
export function correlate(parts: CallParts): RequestHandler {
  const measure = createRequestMeter();
  return (request, response, next) => {
    const call = createCall({ ...parts, request, response });
    calls.set(response, call);
    const startedAt = performance.now();
    response.on('close', () => {
      const durationMs = performance.now() - startedAt;
      const { method } = request;
      const status = response.statusCode;
      const route = routeOf(request);
      call.logger.info(
        {
          method,
          path: route ?? 'unknown',
          status,
          complete: response.writableFinished,
          durationMs: Math.round(durationMs * 10) / 10,
        },
        'request answered',
      );
      measure({ method, route: route ?? '/*', status, seconds: durationMs / 1000 });
    });
    next();
  };
}

/** The route as it is written in the code, never the path: that is the caller's, and each launch has its own. */
function routeOf({ route, baseUrl }: Request): string | undefined {
  const matched: unknown = route;
  if (typeof matched !== 'object' || matched === null || !('path' in matched)) return undefined;
  return `${baseUrl}${String(matched.path)}`;
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
  refusals,
}: CallParts & { readonly request: Request; readonly response: Response }): Call {
  let correlationId: string;
  let identity: string | undefined;
  let isAdopted = false;
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
    get identity() {
      return identity;
    },
    get isAnonymous() {
      return identity === undefined && !isAdopted;
    },
    refusals,
    identify(caller) {
      identity = caller;
    },
    adopt(launchId) {
      isAdopted = true;
      callLogger.info({ launchId }, 'belongs to a launch');
      file(launchId);
    },
  };
}

function continuedTrace(parent: string | undefined): string {
  const spanId = drawBytes(8).toString('hex');
  if (parent === undefined || !traceparentForm.test(parent))
    return `00-${drawBytes(16).toString('hex')}-${spanId}-01`;
  return `00-${parent.slice(3, 35)}-${spanId}-${parent.slice(-2)}`;
}
