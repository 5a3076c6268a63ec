import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CloudEvent,
  createEvent,
  drawBytes,
  type EventData,
  type EventType,
  guidPattern,
} from '@clinical-launch/contracts';
import type { Request, RequestHandler, Response } from 'express';
import proxyAddress from 'proxy-addr';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { createRequestMeter } from '../metrics.ts';
import type { Refusals } from './refusals.ts';

/** The text form of a GUID (RFC 9562) that is accepted from a caller. */
export const guidForm = new RegExp(guidPattern);

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

type CallParts = {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly refusals?: Refusals | undefined;
  /** The number of reverse proxies in front, to determine a caller's address. */
  readonly trustedProxies?: number;
};

/** The context of one inbound request, for every log line, event and session that follows from it. */
export class Call {
  readonly traceparent: string;
  /** Counts and audits refusals in this process; absent outside a service. */
  readonly refusals: Refusals | undefined;
  /** The `source` of its events; set by the endpoint that answers. */
  source = '/';
  /** The route as it is written in the code, never the path; undefined until one matches. */
  route: string | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #parts: CallParts;
  #correlationId: string = randomUUID();
  /** Created when something is logged: most requests log one line, under their last GUID. */
  #logger: Logger | undefined;
  #identity: string | undefined;
  /** The GUID that the request began with, once it belongs to a launch. */
  #beganAs: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, parts: CallParts) {
    this.#request = request;
    this.#response = response;
    this.#parts = parts;
    this.refusals = parts.refusals;
    this.traceparent = continuedTrace(request.headers.traceparent);
    response.setHeader('X-Correlation-Id', this.#correlationId);
  }

  get correlationId(): string {
    return this.#correlationId;
  }

  get logger(): Logger {
    this.#logger ??= this.#parts.logger.child({ correlationId: this.#correlationId });
    return this.#logger;
  }

  /** For the log: the GUID that the request began with, if its launch has another. */
  get beginning(): { readonly beganAs?: string } {
    return this.#beganAs === undefined ? {} : { beganAs: this.#beganAs };
  }

  /** The caller's address: of the connection, or as the trusted proxies in front forwarded it. */
  get address(): string | undefined {
    const { trustedProxies = 0 } = this.#parts;
    if (trustedProxies === 0) return this.#request.socket.remoteAddress;
    return proxyAddress(this.#request, (_address, index) => index < trustedProxies);
  }

  /** The verified caller, if there is one. */
  get identity(): string | undefined {
    return this.#identity;
  }

  /** Whether both the caller and the launch are unknown. */
  get isAnonymous(): boolean {
    return this.#identity === undefined && this.#beganAs === undefined;
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
    if (this.#parts.logger.isLevelEnabled('debug')) this.logger.debug({ launchId }, 'belongs to a launch');
    this.#beganAs ??= this.#correlationId;
    this.#correlationId = launchId;
    this.#logger = undefined;
    if (!this.#response.headersSent) this.#response.setHeader('X-Correlation-Id', launchId);
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

/** Opens the context of a request. */
export type OpenCall = (request: IncomingMessage, response: ServerResponse) => Call;

/**
 * Creates the beginning of every request: gives it its GUID, returns it in `X-Correlation-Id`, accepts
 * `traceparent` (W3C Trace Context) and logs the outcome in one line: method, route, status, duration. Logs
 * an address that no route matches as `unknown`, never as it was sent: a client that encodes its `?` puts its
 * token into the path.
 */
export function createCalls(parts: CallParts): OpenCall {
  const measure = createRequestMeter();
  return (request, response) => {
    const call = new Call(request, response, parts);
    const startedAt = performance.now();
    response.on('close', () => {
      const durationMs = performance.now() - startedAt;
      const { method = '' } = request;
      const { route } = call;
      const status = response.statusCode;
      call.logger.info(
        {
          method,
          path: route ?? 'unknown',
          status,
          complete: response.writableFinished,
          durationMs: Math.round(durationMs * 10) / 10,
          ...call.beginning,
        },
        'request answered',
      );
      measure({ method, route: route ?? '/*', status, seconds: durationMs / 1000 });
    });
    return call;
  };
}

/** Opens the context of each request that Express answers. */
export function correlate(open: OpenCall): RequestHandler {
  return (request, response, next) => {
    const call = open(request, response);
    response.locals.call = call;
    // Before the listener that logs the request, and after Express has found the route.
    response.prependListener('close', () => {
      call.route = routeOf(request);
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
