import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Request, RequestHandler, Response } from 'express';
import { type Call, callOf } from './call.ts';
import { type ErrorDialect, refuse, ServiceError } from './errors.ts';

/**
 * One request, with everything that is known about it, on Node's own request and response. A guard adds more,
 * once, and passes on a wider exchange.
 */
export type DirectExchange<Found extends object = object, Params = object> = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: Call;
  /** The parameters of the route. */
  readonly params: Params;
  /** The findings so far, for the audit event if the request is refused. */
  readonly found: { -readonly [Name in keyof Found]?: Found[Name] };
};

/** One request that Express answers, for handlers that need its methods. */
export type Exchange<Found extends object = object, Params = Request['params']> = DirectExchange<
  Found,
  Params
> & {
  readonly request: Request<Params>;
  readonly response: Response;
};

/** Answers a request, or throws a ServiceError. */
export type Handler<Opened> = (exchange: Opened) => Promise<void> | void;

/**
 * Creates the audit event of a refused request, if it has one. A 429 never has one: a flood must not become a
 * flood of events.
 */
export type RefusalAudit<Found extends object = object> = (
  error: ServiceError,
  exchange: Pick<DirectExchange<Found>, 'call' | 'found'>,
) => CloudEvent<RefusalType> | undefined;

type EndpointOptions<Found extends object, Begun, Opened> = {
  /** The `source` of its events (CloudEvents section 3.1.1): `/` and the name of its service. */
  readonly source: string;
  /** The dialect of its errors. */
  readonly dialect: ErrorDialect;
  readonly audit?: RefusalAudit<Found>;
  /** Resolves the context that is needed before the method is checked. */
  readonly open: (exchange: Begun) => Opened;
  /** By method. A HEAD without its own handler is answered as a GET, without the body. */
  readonly methods: Readonly<Partial<Record<'GET' | 'HEAD' | 'POST' | 'DELETE', Handler<Opened>>>>;
  /** Whether a HEAD without a handler is refused instead, because a GET uses something up here. */
  readonly refusesHead?: boolean;
};

/** The guard of an endpoint that needs nothing before its method is checked. */
export const openToAll = <Opened>(exchange: Opened): Opened => exchange;

/** A handler of one path, with the methods that it has. */
export type Endpoint<Params = Request['params']> = RequestHandler<Params> & {
  readonly methods: readonly string[];
};

/**
 * Creates an endpoint with its refusals: logs, audits and answers every error of its guard or handler, in its
 * dialect. Answers 405 with `Allow` for other methods (RFC 9110 section 15.5.6).
 */
export function endpoint<
  Found extends object = object,
  Params = Request['params'],
  Opened = Exchange<Found, Params>,
>(options: EndpointOptions<Found, Exchange<Found, Params>, Opened>): Endpoint<Params> {
  const { answer, allowed } = createAnswer(options);
  const handle: RequestHandler<Params> = (request, response) =>
    answer({ request, response, call: callOf(response), params: request.params, found: {} });
  return Object.assign(handle, { methods: allowed });
}

/** An endpoint of the launch path, which Express can answer too. */
export type DirectEndpoint<Params> = Endpoint<Params> & {
  /** Answers without Express. */
  readonly direct: (
    request: IncomingMessage,
    response: ServerResponse,
    call: Call,
    params: Params,
  ) => Promise<void>;
};

/** Creates an endpoint as `endpoint` does, whose handlers need only Node's own request and response. */
export function directEndpoint<
  Found extends object = object,
  Params = object,
  Opened = DirectExchange<Found, Params>,
>(options: EndpointOptions<Found, DirectExchange<Found, Params>, Opened>): DirectEndpoint<Params> {
  const { answer, allowed } = createAnswer(options);
  const direct: DirectEndpoint<Params>['direct'] = (request, response, call, params) =>
    answer({ request, response, call, params, found: {} });
  const handle: RequestHandler<Params> = (request, response) =>
    direct(request, response, callOf(response), request.params);
  return Object.assign(handle, { methods: allowed, direct });
}

function createAnswer<Found extends object, Begun extends DirectExchange<Found, unknown>, Opened>({
  source,
  dialect,
  audit,
  open,
  methods,
  refusesHead = false,
}: EndpointOptions<Found, Begun, Opened>) {
  const handlers = new Map(Object.entries(methods));
  const allowed = [...handlers.keys()];
  const { GET: get } = methods;
  if (get !== undefined && !refusesHead && !handlers.has('HEAD')) handlers.set('HEAD', get);

  const answer = async (exchange: Begun): Promise<void> => {
    const { request, call } = exchange;
    call.source = source;
    try {
      const opened = open(exchange);
      const handle = handlers.get(request.method ?? '');
      if (handle === undefined) throw methodNotAllowed(allowed);
      await handle(opened);
    } catch (thrown) {
      await refuse(thrown, { ...exchange, dialect, audit: (error) => audit?.(error, exchange) });
    }
  };
  return { answer, allowed };
}

function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return new ServiceError({
    status: 405,
    code: 'method_not_allowed',
    message: `Use ${allowed.join(' or ')} here`,
    headers: { Allow: allowed.join(', ') },
  });
}
