import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { correlate } from './call.ts';
import { type DirectRoute, withDirectRoutes } from './direct-routes.ts';
import { errorEdge, problemDialect, ServiceError } from './errors.ts';
import type { Refusals } from './refusals.ts';
import { leaveLargeBodiesUnread } from './unread-body.ts';
import { answerUnreadableRequests, requireHost } from './unreadable-requests.ts';

/** What answers requests. */
export type Mounted = {
  readonly router: Router;
  /** The routes of the launch path, which the router has as well. Only for a service that is mounted at `/`. */
  readonly direct?: readonly DirectRoute[];
};

export type AppOptions = {
  /** The edge map: which service answers below which path. `/` keeps the path whole. */
  readonly mounts: readonly { readonly path: string; readonly service: Mounted }[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly isProduction: boolean;
  /** How many reverse proxies stand in front, so that a caller's address can be told. */
  readonly trustedProxies?: number;
  /** The address that browsers use. With https, every answer says that browsers must keep to it. */
  readonly publicUrl?: string;
  /** Limits and audits refusals; without it they are only answered. */
  readonly refusals?: Refusals | undefined;
};

/**
 * A year (RFC 6797 section 6.1.1). Without `includeSubDomains`: names below ours belong to the operator of the domain,
 * and the neighbours that could harm us are beside our name, not below it.
 */
const strictTransportSecurity = 'max-age=31536000';

/** Puts services behind one address. Paths that belong to none are answered 404 without a body. */
export function createApp(options: AppOptions): RequestListener {
  const { mounts, logger, clock, isProduction, trustedProxies = 0, publicUrl = '', refusals } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  // Endpoints read the query themselves: no arrays or objects where a string is meant.
  app.set('query parser', false).set('trust proxy', trustedProxies);
  const before = [
    correlate({ logger, clock, refusals }),
    ...(publicUrl.startsWith('https:') ? [sendStrictTransportSecurity] : []),
  ];
  app.use(before);
  for (const { path, service } of mounts) app.use(path, service.router);
  app.use(() => {
    throw new ServiceError({ status: 404, code: 'not_found', message: 'There is nothing at this address' });
  });
  app.use(errorEdge(problemDialect({ isProduction })));
  return withDirectRoutes(app, { before, routes: mounts.flatMap(({ service }) => service.direct ?? []) });
}

const sendStrictTransportSecurity: RequestHandler = (_request, response, next) => {
  response.setHeader('Strict-Transport-Security', strictTransportSecurity);
  next();
};

export type RunningServer = {
  readonly port: number;
  /** Takes no new connection, lets the requests under way finish, for 15 seconds at most, then resolves. */
  stop(): Promise<void>;
};

const requestTimeoutMs = 15_000;

type ListenOptions = {
  /** 0: any free one */
  readonly port: number;
  readonly host?: string;
  /** Is told of the requests that cannot be read, which the listener never sees. */
  readonly logger?: Logger;
};

/** Serves on a port. Time-outs are short: no honest request here takes long to send. */
export async function listen(
  listener: RequestListener,
  { port, host, logger }: ListenOptions,
): Promise<RunningServer> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      // Checked by `requireHost`.
      requireHostHeader: false,
    },
    requireHost(listener, logger),
  );
  answerUnreadableRequests(server, logger);
  leaveLargeBodiesUnread(server);
  const closeQuietConnections = followConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => close(server, closeQuietConnections),
  };
}

/**
 * Follows which connections have a request under way. The function that it returns closes the others at once, and
 * these as soon as they have answered: node's `closeIdleConnections` passes over a connection that has sent nothing
 * yet (browsers open some ahead), and one that falls idle later stays for its keep-alive time.
 */
function followConnections(server: Server): () => void {
  const requestsOf = new Map<Socket, number>();
  let isClosing = false;
  const closeIfQuiet = (socket: Socket) => {
    if (isClosing && requestsOf.get(socket) === 0) socket.destroySoon();
  };
  const count = (socket: Socket, change: 1 | -1) => {
    const requests = requestsOf.get(socket);
    if (requests === undefined) return;
    requestsOf.set(socket, requests + change);
    closeIfQuiet(socket);
  };
  server.on('connection', (socket: Socket) => {
    requestsOf.set(socket, 0);
    socket.once('close', () => requestsOf.delete(socket));
    closeIfQuiet(socket);
  });
  server.on('request', ({ socket }, response) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  });
  return () => {
    isClosing = true;
    for (const socket of requestsOf.keys()) closeIfQuiet(socket);
  };
}

async function close(server: Server, closeQuietConnections: () => void): Promise<void> {
  // A closed server no longer looks for requests that are late, so a sender that went silent would hold it for ever.
  const deadline = setTimeout(() => server.closeAllConnections(), requestTimeoutMs);
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    closeQuietConnections();
  }).finally(() => clearTimeout(deadline));
}

/**
 * The admin endpoints, on a port of their own: `/healthz` (the process runs), `/readyz` (its parts answer and it is
 * not stopping), `/metrics` where a handler for them is given.
 */
export function createAdminApp(
  checks: Readonly<Record<string, () => Promise<boolean>>>,
  answerMetrics?: RequestListener,
): Express {
  const app = express().disable('x-powered-by').disable('etag');
  if (answerMetrics !== undefined) app.get('/metrics', answerMetrics);
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', async (_request, response) => {
    const parts = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await check().catch(() => false)] as const),
    );
    const isReady = parts.every(([, isUp]) => isUp);
    response
      .status(isReady ? 200 : 503)
      .json({ status: isReady ? 'ok' : 'not ready', parts: Object.fromEntries(parts) });
  });
  return app;
}
