import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { sendStatus, setHeaders } from './answer.ts';
import type { Call } from './call.ts';
import { asServiceError, type ErrorDialect, refuse, ServiceError } from './errors.ts';

/** The parameters in the path of a request, decoded; `*name` matches several segments. */
export type PathParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One request, with everything that is known about it. A guard returns a wider exchange. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: Call;
  readonly params: PathParameters;
};

/** Returns the text of a path parameter of one segment; the empty text if the path does not have it. */
export function textParameter({ params }: Pick<Exchange, 'params'>, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Resolves something that a handler needs, once, and returns the exchange with it; undefined if it has
 * answered the request itself. A refusal is thrown.
 */
export type Guard<In extends Exchange, Out extends In> = (
  exchange: In,
) => Promise<Out | undefined> | Out | undefined;

/** Answers a request, or throws a ServiceError. */
export type Handler<In extends Exchange = Exchange> = (exchange: In) => Promise<void> | void;

/** An error that was thrown behind a guard, with the exchange that the guard had returned. */
class GuardedError extends Error {
  readonly exchange: Exchange;

  constructor(exchange: Exchange, cause: unknown) {
    super('The request failed behind a guard', { cause });
    this.exchange = exchange;
  }
}

/**
 * Returns a handler behind a guard. If the handler throws, the audit of the endpoint receives the exchange as
 * the last guard returned it.
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

/** A refused exchange: what its guards had resolved when it was refused. */
export type Refused<Reached extends Exchange = Exchange> = Exchange & Partial<Reached>;

/**
 * Creates the audit event of a refused request, if it has one. A 429 never has one: a flood must not become a
 * flood of events.
 */
export type RefusalAudit<Reached extends Exchange = Exchange> = (
  error: ServiceError,
  exchange: Refused<Reached>,
) => CloudEvent<RefusalType> | undefined;

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';

type EndpointOptions<Placed extends Exchange, Reached extends Exchange> = {
  /** As Express writes it: `/orders/:guid.xml`. */
  readonly path: string;
  /** The `source` of its events (CloudEvents section 3.1.1): `/` and the name of its service. */
  readonly source: string;
  /** The dialect of its errors. */
  readonly dialect: ErrorDialect;
  /** The headers of every answer, refusals included. */
  readonly headers?: OutgoingHttpHeaders;
  /**
   * Whether pages of any origin may read the answers (WHATWG Fetch, CORS protocol), because browser-based
   * SMART clients send requests from their own origin. Without credentials, because no answer depends on a
   * cookie.
   */
  readonly anyOrigin?: boolean;
  /** By method. A HEAD without its own handler is answered as a GET, without the body. */
  readonly methods: Readonly<Partial<Record<Method, Handler<Placed>>>>;
  /**
   * Whether a HEAD without a handler is refused instead, because a GET of this endpoint uses something up.
   */
  readonly refusesHead?: boolean;
  readonly audit?: RefusalAudit<Reached>;
  /** Called with every refusal and failure, those of a limit included, to count it. */
  readonly onRefused?: (error: ServiceError, exchange: Refused<Reached>) => void;
};

/** One path of a service. */
export type Endpoint = {
  readonly path: string;
  /** Its methods, for `Allow` and the description of the interface. */
  readonly methods: readonly string[];
  /** Answers a request, including a refused one. */
  readonly answer: (exchange: Exchange) => Promise<void>;
};

/**
 * Creates an endpoint. It logs, audits and answers every error of its guards and handlers in its dialect, and
 * answers 405 with `Allow` for other methods (RFC 9110 section 15.5.6). The guard `place` runs before the
 * method is checked.
 */
export function endpoint<Placed extends Exchange, Reached extends Exchange = Placed>(
  options: EndpointOptions<Placed, Reached> & { readonly place: Guard<Exchange, Placed> },
): Endpoint;
export function endpoint<Reached extends Exchange = Exchange>(
  options: EndpointOptions<Exchange, Reached>,
): Endpoint;
export function endpoint<Placed extends Exchange, Reached extends Exchange>({
  path,
  source,
  dialect,
  headers = {},
  anyOrigin = false,
  place,
  methods,
  refusesHead = false,
  audit,
  onRefused,
}: EndpointOptions<Placed, Reached> & { readonly place?: Guard<Exchange, Placed> }): Endpoint {
  const handlers = new Map<string, Handler<Placed>>(Object.entries(methods));
  const allowed = [...handlers.keys()];
  if (methods.GET !== undefined && !refusesHead && !handlers.has('HEAD')) handlers.set('HEAD', methods.GET);
  const sentAlways = anyOrigin ? { ...headers, ...anyOriginHeaders } : headers;

  const choose: Handler<Placed> = (exchange) => {
    const handle = handlers.get(exchange.request.method ?? '');
    if (handle === undefined) throw methodNotAllowed(allowed);
    return handle(exchange);
  };
  // Without a guard, `Placed` is a plain exchange: the first overload requires a guard for any other type.
  const handle = place === undefined ? (choose as Handler) : behind(place, choose);

  return {
    path,
    methods: allowed,
    async answer(exchange) {
      const { request, response, call } = exchange;
      call.source = source;
      setHeaders(response, sentAlways);
      if (anyOrigin && isPreflight(request)) return answerPreflight(response, allowed);
      try {
        await handle(exchange);
      } catch (thrown) {
        const isGuarded = thrown instanceof GuardedError;
        const refused = (isGuarded ? thrown.exchange : exchange) as Refused<Reached>;
        const error = asServiceError(isGuarded ? thrown.cause : thrown);
        onRefused?.(error, refused);
        await refuse(error, { ...exchange, dialect, audit: () => audit?.(error, refused) });
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

/** WHATWG Fetch, CORS protocol: a HEAD needs no permission. */
function answerPreflight(response: ServerResponse, allowed: readonly string[]): void {
  setHeaders(response, {
    'Access-Control-Allow-Methods': allowed.filter((method) => method !== 'HEAD').join(', '),
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP, traceparent',
    'Access-Control-Max-Age': '600',
  });
  sendStatus(response, 204);
}
