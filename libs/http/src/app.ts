import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import express, { type ErrorRequestHandler, type RequestHandler, type Response, Router } from 'express';
import { createAdmission } from './admission.ts';
import { type Admission, type Call, createCalls } from './call.ts';
import type { Endpoint, PathParameters } from './endpoint.ts';
import { type ErrorDialect, problemDialect, refuse, ServiceError } from './errors.ts';
import type { Refusals } from './refusals.ts';

/** The error answers below a path, for requests that match no endpoint. */
export type Edge = {
  readonly path: string;
  /**
   * The error dialect below the path. It also answers errors of Express about paths that cannot be decoded.
   */
  readonly dialect: ErrorDialect;
  /** Creates the error for an address without an endpoint. The default answer is 404 without a body. */
  readonly notFound?: () => ServiceError;
};

/** The endpoints and other handlers of a service. */
export type Mounted = {
  readonly endpoints: readonly Endpoint[];
  /** Handlers for other addresses below a path, for example to serve files. */
  readonly below?: readonly { readonly path: string; readonly serve: RequestHandler }[];
  readonly edges?: readonly Edge[];
};

export type AppOptions = {
  /**
   * The service that is mounted below each path. Endpoint paths of a service at `/` are whole request paths.
   */
  readonly mounts: readonly { readonly path: string; readonly service: Mounted }[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly isProduction: boolean;
  /** The number of trusted reverse proxies in front. The address of the caller depends on this number. */
  readonly trustedProxies?: number;
  /** The address that browsers use. If it is https, every answer contains Strict-Transport-Security. */
  readonly publicUrl?: string;
  /** Limits and audits refusals. If absent, refusals are only answered. */
  readonly refusals?: Refusals | undefined;
  /** Limits the requests that the endpoints work on at the same time. If absent, the default limits apply. */
  readonly admission?: Admission;
};

/**
 * A year in seconds (RFC 6797 section 6.1.1). The header omits `includeSubDomains`, because subdomains belong
 * to the operator of the domain. The directive would also not prevent attacks from sibling hosts, because it
 * covers only subdomains.
 */
const strictTransportSecurity = 'max-age=31536000';

/** The policy of an answer that is not a page, such as JSON or an asset. A page replaces it with its own. */
const policyOfData = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Creates one listener for the endpoints of several services. Looks exact paths up in a table, because the
 * route search of Express takes a tenth of the time of a launch. Express routes every other path. If no
 * endpoint matches and no `Edge` has an error for the path, answers 404 without a body.
 */
export function createApp(options: AppOptions): RequestListener {
  const { mounts, logger, clock, isProduction, trustedProxies = 0, publicUrl = '', refusals } = options;
  const { admission = createAdmission() } = options;
  const isHttps = publicUrl.startsWith('https:');
  const openCall = createCalls({
    logger,
    clock,
    refusals,
    admission,
    trustedProxies,
    scheme: isHttps ? 'https' : 'http',
  });
  const find = createTable(mounts.flatMap(({ path, service }) => (path === '/' ? service.endpoints : [])));
  const others = createExpress(mounts, problemDialect({ isProduction }));

  return (request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Content-Security-Policy', policyOfData);
    if (isHttps) response.setHeader('Strict-Transport-Security', strictTransportSecurity);
    const call = openCall(request, response);
    const found = find(request);
    call.trace.run(() => {
      if (found === undefined) return others(request, Object.assign(response, { locals: { call } }));
      const { endpoint, params } = found;
      call.route = endpoint.path;
      endpoint.answer({ request, response, call, params }).catch(() => response.destroy());
    });
  };
}

type MatchedEndpoint = { readonly endpoint: Endpoint; readonly params: PathParameters };

/** The realm at the start of a path. The table finds realms of one segment. Express finds longer realms. */
const realm = '/*realm';

/** Returns a function that finds an endpoint by its exact path, or by the path after a realm. */
function createTable(
  endpoints: readonly Endpoint[],
): (request: IncomingMessage) => MatchedEndpoint | undefined {
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  return ({ url = '' }) => {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const exact = byPath.get(path);
    if (exact !== undefined) return { endpoint: exact, params: {} };
    const end = path.indexOf('/', 1);
    const endpoint = end < 0 ? undefined : byPath.get(realm + path.slice(end));
    const segment = path.slice(1, end);
    return endpoint !== undefined && /^[\w-]+$/.test(segment)
      ? { endpoint, params: { realm: [segment] } }
      : undefined;
  };
}

type ExpressListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Matches paths exactly. A different case or a trailing slash makes a different path. */
const exactly = { caseSensitive: true, strict: true };

function createExpress(mounts: AppOptions['mounts'], dialect: ErrorDialect): ExpressListener {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  // Express does not parse the query. Endpoints use `queryOf`, with which a parameter is always a string and
  // never an array or an object.
  app.set('query parser', false);
  for (const { path, service } of mounts) app.use(path, createRouter(path, service));
  app.use(refuseWith(notFound), answerErrors(dialect));
  return app;
}

function createRouter(mountedAt: string, { endpoints, below = [], edges = [] }: Mounted): Router {
  const router = Router(exactly);
  const prefix = mountedAt === '/' ? '' : mountedAt;
  for (const { path, answer } of endpoints) {
    router.all(path, (request, response) => {
      const call = callOf(response);
      call.route = prefix + path;
      return answer({ request, response, call, params: request.params });
    });
  }
  for (const { path, serve } of below) router.use(path, serve);
  for (const { path } of endpoints) router.all(`${path}/`, refuseWith(trailingSlash));
  for (const { path, dialect, notFound } of edges) {
    if (notFound !== undefined) router.use(path, refuseWith(notFound));
    router.use(path, answerErrors(dialect));
  }
  return router;
}

const notFound = () => new ServiceError({ code: 'not_found', message: 'Address not found' });

const trailingSlash = () =>
  new ServiceError({ code: 'trailing_slash', message: 'Address not found. Remove the slash at its end' });

function refuseWith(create: () => ServiceError): RequestHandler {
  return () => {
    throw create();
  };
}

function answerErrors(dialect: ErrorDialect): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) =>
    refuse(thrown, { request, response, call: callOf(response), dialect });
}

declare global {
  namespace Express {
    // Express calls the values that belong to one response `Locals`.
    interface Locals {
      call?: Call;
    }
  }
}

function callOf({ locals: { call } }: Response): Call {
  if (call === undefined)
    throw new TypeError('The response has no call, because createApp did not receive the request');
  return call;
}
