import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { sendStatus, setHeaders } from './answer.ts';
import type { Call } from './call.ts';
import { asServiceError, type ErrorDialect, refuse, ServiceError } from './errors.ts';

/** The decoded parameters in the path of a request. A parameter `*name` matches several segments. */
export type PathParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request with its response and context. A guard returns an exchange with more members. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: Call;
  readonly params: PathParameters;
};

/** Returns a path parameter of one segment, or the empty string if the path does not contain it. */
export function textParameter({ params }: Pick<Exchange, 'params'>, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Finds a value that a handler needs, and returns the exchange with this value. Returns undefined if the
 * guard has answered the request. Throws a ServiceError to refuse the request.
 */
export type Guard<In extends Exchange, Out extends In> = (
  exchange: In,
) => Promise<Out | undefined> | Out | undefined;

/** Answers a request, or throws a ServiceError to refuse it. */
export type Handler<In extends Exchange = Exchange> = (exchange: In) => Promise<void> | void;

/** An error that a handler threw, with the exchange that the last guard had returned. */
class GuardedError extends Error {
  readonly exchange: Exchange;

  constructor(exchange: Exchange, cause: unknown) {
    super('The request failed behind a guard', { cause });
    this.exchange = exchange;
  }
}

/**
 * Returns a handler that calls the guard first. If the handler throws, the audit of the endpoint receives the
 * exchange that the last guard returned.
 */
export function behind<In extends Exchange, Out extends In>(
  guard: Guard<In, Out>,
  handle: Handler<Out>,
): Handler<In> {
  return async (exchange) => {
    const guarded = await guard(exchange);
    if (guarded === undefined) return;
    try {
      await handle(guarded);
    } catch (error) {
      throw error instanceof GuardedError ? error : new GuardedError(guarded, error);
    }
  };
}

/** The exchange of a refused request, with the values that guards had added before the refusal. */
export type Refused<Reached extends Exchange = Exchange> = Exchange & Partial<Reached>;

/**
 * Creates the audit event of a refused request, or returns undefined if none is needed. Never called for a
 * 429, because a flood of requests must not become a flood of events.
 */
export type RefusalAudit<Reached extends Exchange = Exchange> = (
  error: ServiceError,
  exchange: Refused<Reached>,
) => CloudEvent<RefusalType> | undefined;

type EndpointOptions<Guarded extends Exchange, Reached extends Exchange> = {
  /** The path pattern in the syntax of Express, such as `/orders/:guid.xml`. */
  readonly path: string;
  /** The `source` of its events (CloudEvents section 3.1.1), such as `/launch-api`. */
  readonly source: string;
  readonly dialect: ErrorDialect;
  /** The headers of every answer, including refusals. */
  readonly headers?: OutgoingHttpHeaders;
  /**
   * If true, pages of any origin may read the answers (WHATWG Fetch, CORS protocol). Browser-based SMART
   * clients need this. Credentials are not allowed, because no answer depends on a cookie. A function decides
   * for each request.
   */
  readonly anyOrigin?: boolean | ((exchange: Exchange) => boolean);
  /** The handler of each method. Without a handler for HEAD, the handler for GET answers without a body. */
  readonly methods: Readonly<Partial<Record<'GET' | 'HEAD' | 'POST' | 'DELETE', Handler<Guarded>>>>;
  /**
   * If true, a HEAD without a handler is refused, because the handler for GET would use up a single-use
   * ticket.
   */
  readonly refusesHead?: boolean;
  /** Whether a request begins a launch. If the process is busy, pages of open sessions are answered first. */
  readonly isNewLaunch?: boolean;
  readonly audit?: RefusalAudit<Reached>;
  /**
   * Counts refusals and failures. Is called for each refusal and failure, including refusals because of a
   * limit.
   */
  readonly onRefused?: (error: ServiceError, exchange: Refused<Reached>) => void;
};

/** A path of a service with its handlers. */
export type Endpoint = {
  readonly path: string;
  /** The supported methods, for the header `Allow` and the OpenAPI document. */
  readonly methods: readonly string[];
  /** Answers every request, including requests that it refuses. */
  readonly answer: (exchange: Exchange) => Promise<void>;
};

/**
 * Creates an endpoint. The endpoint logs and audits every error of its guards and handlers, and answers in
 * its own dialect. It waits for a place in the process, or answers 503. It answers 405 with `Allow` to other
 * methods (RFC 9110 section 15.5.6). `guard` runs before the method is checked.
 */
export function endpoint<Guarded extends Exchange, Reached extends Exchange = Guarded>(
  options: EndpointOptions<Guarded, Reached> & { readonly guard: Guard<Exchange, Guarded> },
): Endpoint;
export function endpoint<Reached extends Exchange = Exchange>(
  options: EndpointOptions<Exchange, Reached>,
): Endpoint;
export function endpoint<Guarded extends Exchange, Reached extends Exchange>({
  path,
  source,
  dialect,
  headers = {},
  anyOrigin = false,
  guard,
  methods,
  refusesHead = false,
  isNewLaunch = false,
  audit,
  onRefused,
}: EndpointOptions<Guarded, Reached> & { readonly guard?: Guard<Exchange, Guarded> }): Endpoint {
  const handlers = new Map<string, Handler<Guarded>>(Object.entries(methods));
  const allowed = [...handlers.keys()];
  if (methods.GET !== undefined && !refusesHead && !handlers.has('HEAD')) handlers.set('HEAD', methods.GET);
  const isOpen = typeof anyOrigin === 'function' ? anyOrigin : () => anyOrigin;

  const choose: Handler<Guarded> = (exchange) => {
    const handle = handlers.get(exchange.request.method ?? '');
    if (handle === undefined) throw methodNotAllowed(allowed);
    return handle(exchange);
  };
  // Without a guard, `Guarded` is `Exchange`, because the first overload requires a guard for any other type.
  const handle = guard === undefined ? (choose as Handler) : behind(guard, choose);

  return {
    path,
    methods: allowed,
    async answer(exchange) {
      const { request, response, call } = exchange;
      call.source = source;
      const answersPages = isOpen(exchange);
      setHeaders(response, answersPages ? { ...headers, ...anyOriginHeaders } : headers);
      if (answersPages && isPreflight(request)) return answerPreflight(response, allowed);
      let isAdmitted = false;
      try {
        const entered = call.admission?.enter(response, { isNewLaunch });
        call.place = entered instanceof Promise ? await entered : entered;
        isAdmitted = true;
        await handle(exchange);
      } catch (thrown) {
        const isGuarded = thrown instanceof GuardedError;
        const refused = (isGuarded ? thrown.exchange : exchange) as Refused<Reached>;
        const error = asServiceError(isGuarded ? thrown.cause : thrown);
        onRefused?.(error, refused);
        // Stores no event without a place, because a flood of requests must not become a flood of events.
        await refuse(error, {
          ...exchange,
          dialect,
          audit: () => (isAdmitted ? audit?.(error, refused) : undefined),
        });
      } finally {
        call.place?.leave();
      }
    },
  };
}

function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return new ServiceError({
    code: 'method_not_allowed',
    message: `Use ${allowed.join(' or ')} here`,
    headers: { Allow: allowed.join(', ') },
  });
}

const anyOriginHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Correlation-Id, Retry-After, WWW-Authenticate',
};

const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** Answers a CORS preflight. Omits HEAD, which needs no permission (WHATWG Fetch, CORS protocol). */
function answerPreflight(response: ServerResponse, allowed: readonly string[]): void {
  setHeaders(response, {
    'Access-Control-Allow-Methods': allowed.filter((method) => method !== 'HEAD').join(', '),
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP, traceparent',
    'Access-Control-Max-Age': '600',
  });
  sendStatus(response, 204);
}
