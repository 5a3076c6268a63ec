import { randomUUID } from 'node:crypto';
import {
  type CloudEvent,
  createEvent,
  drawBytes,
  type EventData,
  type EventType,
  guidPattern,
} from '@clinical-launch/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { createRequestMeter } from '../metrics.ts';
import type { Refusals } from './refusals.ts';

/** The text form of a GUID (RFC 9562) that is accepted from a caller. */
export const guidForm = new RegExp(guidPattern);

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

type CallParts = { readonly logger: Logger; readonly clock: Clock; readonly refusals?: Refusals | undefined };

/** The context of one inbound request, for every log line, event and session that follows from it. */
export class Call {
  readonly traceparent: string;
  /** Counts and audits refusals in this process; absent outside a service. */
  readonly refusals: Refusals | undefined;
  /** The `source` of its events; set by the endpoint that answers. */
  source = '/';
  readonly #response: Response;
  readonly #parts: CallParts;
  #correlationId: string;
  #logger: Logger;
  #identity: string | undefined;
  #isAdopted = false;

  constructor(request: Pick<Request, 'headers'>, response: Response, parts: CallParts) {
    this.#response = response;
    this.#parts = parts;
    this.refusals = parts.refusals;
    this.traceparent = continuedTrace(request.headers.traceparent);
    this.#correlationId = randomUUID();
    this.#logger = this.#file();
  }

  get correlationId(): string {
    return this.#correlationId;
  }

  get logger(): Logger {
    return this.#logger;
  }

  /** The verified caller, if there is one. */
  get identity(): string | undefined {
    return this.#identity;
  }

  /** Whether both the caller and the launch are unknown. */
  get isAnonymous(): boolean {
    return this.#identity === undefined && !this.#isAdopted;
  }

  /** Creates an event of the catalogue that follows from this request. */
  event<Type extends EventType>(type: Type, data: EventData<Type>): CloudEvent<Type> {
    const { source, correlationId, traceparent } = this;
    return createEvent(
      type,
      { source, correlationId, traceparent, now: new Date(this.#parts.clock.now()) },
      data,
    );
  }

  /** Names the caller once it is verified: a registered client, or a live session. */
  identify(caller: string): void {
    this.#identity = caller;
  }

  /** Continues under the GUID of the launch that this request belongs to. */
  adopt(launchId: string): void {
    this.#isAdopted = true;
    this.#logger.info({ launchId }, 'belongs to a launch');
    this.#correlationId = launchId;
    this.#logger = this.#file();
  }

  #file(): Logger {
    if (!this.#response.headersSent) this.#response.setHeader('X-Correlation-Id', this.#correlationId);
    return this.#parts.logger.child({ correlationId: this.#correlationId });
  }
}

declare global {
  namespace Express {
    // Express's name for the values of one response.
    interface Locals {
      call?: Call;
    }
  }
}

/**
 * Gives every request its GUID, returns it in `X-Correlation-Id`, accepts `traceparent` (W3C Trace Context)
 * and logs the outcome: method, route, status, duration. Logs an address that no route matches as `unknown`,
 * never as it was sent: a client that encodes its `?` puts its token into the path.
 */
export function correlate(parts: CallParts): RequestHandler {
  const measure = createRequestMeter();
  return (request, response, next) => {
    const call = new Call(request, response, parts);
    response.locals.call = call;
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

/**
 * Returns the route as it is written in the code, never the path: the caller chooses the path, and each
 * launch has its own.
 */
function routeOf({ route, baseUrl }: Request): string | undefined {
  const matched: unknown = route;
  if (typeof matched !== 'object' || matched === null || !('path' in matched)) return undefined;
  return `${baseUrl}${String(matched.path)}`;
}

/** Returns the call that a response belongs to. @throws TypeError when `correlate` was not mounted before */
export function callOf(response: Response): Call {
  const { call } = response.locals;
  if (call === undefined) throw new TypeError('Mount correlate() before the routes');
  return call;
}

function continuedTrace(parent: string | string[] | undefined): string {
  const spanId = drawBytes(8).toString('hex');
  if (typeof parent !== 'string' || !traceparentForm.test(parent))
    return `00-${drawBytes(16).toString('hex')}-${spanId}-01`;
  return `00-${parent.slice(3, 35)}-${spanId}-${parent.slice(-2)}`;
}
