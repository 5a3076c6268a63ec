import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '@clinical-launch/runtime/logger';
import express, { type Express } from 'express';
import { leaveLargeBodiesUnread } from './body.ts';
import { http } from './node-http.ts';
import { answerUnreadableRequests, refuseInvalidHeads } from './unreadable-requests.ts';

export type RunningServer = {
  readonly port: number;
  /**
   * Accepts no new connection, lets current requests finish, for at most `patience.stopMs`, then resolves.
   */
  stop(): Promise<void>;
};

/** The longest times, in milliseconds, that a server waits for the other side. */
export type Patience = {
  /** For the headers of a request. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** For the current requests when it stops. */
  readonly stopMs: number;
};

/** Short, because no honest request takes long to send. */
export const patience: Patience = { headersMs: 10_000, requestMs: 15_000, stopMs: 15_000 };

type ListenOptions = {
  /** 0 for any free port. */
  readonly port: number;
  readonly host?: string;
  /** Logs the requests that cannot be read, which the listener never sees. */
  readonly logger?: Logger;
  /** `patience` by default. */
  readonly waits?: Patience;
};

/** Serves on a port. */
export async function listen(
  listener: RequestListener,
  { port, host, logger, waits = patience }: ListenOptions,
): Promise<RunningServer> {
  const server = http.createServer(
    {
      headersTimeout: waits.headersMs,
      requestTimeout: waits.requestMs,
      connectionsCheckingInterval: waits.headersMs / 10,
      keepAliveTimeout: 65_000,
      // `refuseInvalidHeads` checks it.
      requireHostHeader: false,
    },
    refuseInvalidHeads(listener, logger),
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
    stop: () => close(server, closeQuietConnections, waits.stopMs),
  };
}

/**
 * Tracks the connections with a current request. The returned function closes the others immediately, and
 * these as soon as they have answered. Node's `closeIdleConnections` skips a connection that has sent nothing
 * yet (browsers open some ahead), and a connection that becomes idle later stays for its keep-alive time.
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

async function close(server: Server, closeQuietConnections: () => void, withinMs: number): Promise<void> {
  // A closed server no longer checks for late requests, so a silent client would keep it open for ever.
  const deadline = setTimeout(() => server.closeAllConnections(), withinMs);
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    closeQuietConnections();
  }).finally(() => clearTimeout(deadline));
}

/**
 * Creates the admin endpoints, on a separate port: `/healthz` (the process runs), `/readyz` (its parts answer
 * and it is not stopping), `/metrics` if it has a handler.
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
