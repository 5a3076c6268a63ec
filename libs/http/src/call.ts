import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Concerning, EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Clock } from '@clinical-launch/runtime/clock';
import { createRequestLogger, type Logger, traceFields } from '@clinical-launch/runtime/logger';
import { createRequestMeter } from '@clinical-launch/runtime/metrics';
import proxyAddress from 'proxy-addr';
import type { Refusals } from './refusals.ts';
import { RequestTrace } from './request-trace.ts';

/** The place of a request among those that the process works on. */
export type Place = {
  /** Gives the place to the next request. */
  leave(): void;
  /**
   * Gives the place away while the caller, or another system, is slow. Then waits for a place again, before
   * requests that have not begun. @throws ServiceError 503 if none is free in time
   */
  yieldWhile<Result>(slow: Promise<Result>): Promise<Result>;
};

export type Admission = {
  /**
   * Returns the place of a request, or waits for it. Pages of open sessions go before new launches. Rejects
   * with ServiceError 503 if no place is free within two seconds, or the caller has disconnected.
   */
  enter(response: ServerResponse, options: { readonly isNewLaunch: boolean }): Place | Promise<Place>;
};

type CallParts = {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly refusals?: Refusals | undefined;
  readonly admission?: Admission;
  /** The number of trusted reverse proxies in front. The address of the caller depends on this number. */
  readonly trustedProxies?: number;
  readonly scheme?: 'http' | 'https';
};

/** The context of one inbound request: its correlation id, trace, caller and launch, for logs and events. */
export class Call {
  /** The trace and the span of this request (W3C Trace Context). */
  readonly trace: RequestTrace;
  /** Counts and audits the refusals of this process. Undefined outside a service. */
  readonly refusals: Refusals | undefined;
  /** Limits the requests that this process works on. Undefined outside a service. */
  readonly admission: Admission | undefined;
  /** The place of this request among them. Undefined before the endpoint has admitted it. */
  place: Place | undefined;
  /** The Unix time of the request in milliseconds. */
  readonly receivedAt: number;
  /** The `source` of the events of this request. The endpoint that answers sets this value. */
  source = '/';
  /** The path pattern of the endpoint, never the path of the request. Undefined until an endpoint matches. */
  route: string | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #parts: CallParts;
  #correlationId: string = randomUUID();
  /**
   * The logger is created when the first line is logged. Most requests log only one line, at their end, when
   * their GUID is final.
   */
  #logger: Logger | undefined;
  #identity: string | undefined;
  #concerning: Concerning = {};
  #clientId: string | undefined;
  /** The original GUID of the request, if the GUID of a launch has replaced it. */
  #beganAs: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, parts: CallParts) {
    this.#request = request;
    this.#response = response;
    this.#parts = parts;
    this.refusals = parts.refusals;
    this.admission = parts.admission;
    this.receivedAt = parts.clock.now();
    this.trace = new RequestTrace({
      sent: request.headers.traceparent,
      id: this.#correlationId,
      method: request.method ?? '',
      scheme: parts.scheme ?? 'http',
    });
    response.setHeader('X-Correlation-Id', this.#correlationId);
  }

  get correlationId(): string {
    return this.#correlationId;
  }

  get traceparent(): string {
    return this.trace.traceparent;
  }

  get logger(): Logger {
    this.#logger ??= this.#createLogger();
    return this.#logger;
  }

  #createLogger(): Logger {
    return createRequestLogger(this.#parts.logger, {
      correlationId: this.#correlationId,
      ...traceFields(this.trace.context),
      ...(this.#clientId === undefined ? {} : { client: this.#clientId }),
    });
  }

  /** The log field with the original GUID of the request, if the GUID of a launch has replaced it. */
  get beginning(): { readonly beganAs?: string } {
    return this.#beganAs === undefined ? {} : { beganAs: this.#beganAs };
  }

  /** The address of the caller. Behind trusted proxies, it is read from `X-Forwarded-For`. */
  get address(): string | undefined {
    const { trustedProxies = 0 } = this.#parts;
    if (trustedProxies === 0) return this.#request.socket.remoteAddress;
    return withoutPort(proxyAddress(this.#request, (_address, index) => index < trustedProxies));
  }

  /** The name of the caller, if the caller is verified. */
  get identity(): string | undefined {
    return this.#identity;
  }

  /** True if both the caller and the launch are unknown. */
  get isAnonymous(): boolean {
    return this.#identity === undefined && this.#beganAs === undefined;
  }

  /** Creates an event with the origin, the user, the practice and the patient of this request. */
  event<Type extends EventType>(type: Type, data: EventData<Type>): CloudEvent<Type> {
    const { source, correlationId, traceparent } = this;
    return createEvent(
      type,
      { source, correlationId, traceparent, now: new Date(this.#parts.clock.now()) },
      { address: plainAddress(this.address), ...this.#concerning, ...data },
    );
  }

  /** Sets the user, the practice and the patient that the events of this request contain. */
  concern(concerning: Concerning): void {
    this.#concerning = { ...this.#concerning, ...concerning };
  }

  /** The verified client that sent this request or began its launch. */
  get clientId(): string | undefined {
    return this.#clientId;
  }

  /** Sets the verified caller: a registered client, or the valid launch session of a client. */
  identify(caller: string, clientId?: string): void {
    this.#identity = caller;
    this.#clientId = clientId ?? this.#clientId;
    this.#logger = undefined;
  }

  /**
   * Makes the GUID of the launch the correlation id of this request.
   * @param clientId the client that began the launch, if it is known
   */
  adopt(launchId: string, clientId = this.#clientId): void {
    this.#clientId = clientId;
    this.trace.follow(launchId);
    if (this.#parts.logger.isLevelEnabled('debug'))
      this.logger.debug({ launchId }, 'the request belongs to a launch');
    this.#beganAs ??= this.#correlationId;
    this.#correlationId = launchId;
    this.#logger = undefined;
    if (!this.#response.headersSent) this.#response.setHeader('X-Correlation-Id', launchId);
  }
}

/** Creates the context of a request. */
export type OpenCall = (request: IncomingMessage, response: ServerResponse) => Call;

/**
 * Returns the function that creates the context of each request. The function assigns a GUID, returns it in
 * `X-Correlation-Id`, and accepts `traceparent` (W3C Trace Context). After the answer, it logs method, route,
 * status and duration in one line. If no route matches, it logs `unknown` instead of the path, because the
 * path contains a token if the client encoded the `?`.
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
      const { correlationId, clientId } = call;
      call.trace.end({ route, status, correlationId, clientId });
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
      measure({
        method,
        route: route ?? '/*',
        status,
        seconds: durationMs / 1000,
        traceparent: call.traceparent,
      });
    });
    return call;
  };
}

/** The maximum length of an address as text (RFC 4291 section 2.2). */
const maxAddressLength = 45;

/**
 * Returns an address in the form in which events contain it. Converts an IPv4-mapped IPv6 address (RFC 4291
 * section 2.5.5.2) to IPv4.
 */
export function plainAddress(address: string | undefined): string {
  return (address ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '').slice(0, maxAddressLength);
}

/**
 * Returns the network that limits treat as one caller: a single IPv4 address, or an IPv6 /64 network, which
 * belongs to one subscriber (RFC 6177).
 */
export function networkOf(address: string): string {
  const [ip = ''] = address.split('%', 1);
  if (!isIPv6(ip)) return address;
  const [head = '', tail] = ip.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end counts as two groups.
  const groupsAfter = after.length + (ip.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - groupsAfter);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** Removes the port and the brackets that some proxies add to an address (RFC 7239 section 6). */
const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
