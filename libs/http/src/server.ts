import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RefusalCode } from '@clinical-launch/contracts/refusals/codes';
import type { Logger } from '@clinical-launch/runtime/logger';
import express, { type Express } from 'express';
import { http } from './node-http.ts';

export type RunningServer = {
  readonly port: number;
  /**
   * Accepts no new connection, lets current requests finish, for at most `patience.stopMs`, then resolves.
   */
  stop(): Promise<void>;
};

/** The timeouts of a server, in milliseconds. */
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
 * Tracks the connections with a current request. The returned function closes idle connections immediately,
 * and busy ones after their answer. Node's `closeIdleConnections` skips a connection that has sent nothing
 * yet (browsers open some in advance), and keeps one that becomes idle later for its keep-alive time.
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

const correlationHeader = 'X-Correlation-Id';

/** The statuses of Node's parser errors; every other error is 400. */
const statusOfError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers the requests that Node never passes to a listener, as Node itself would: the status (400, 408, 413,
 * 417 or 431), `Connection: close` and no body. Adds `X-Correlation-Id`, under which each is logged once.
 * Logs only the parser's code, because its error contains the request. Never throws, even if the connection
 * is closed.
 */
function answerUnreadableRequests(server: Server, logger: Logger | undefined): void {
  const log = (correlationId: string, status: number, code: string) =>
    logger?.info({ correlationId, status, code }, 'request could not be read');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { code = '' } = error;
    const response = responseUnderWay(socket);
    if (socket.writable && response?.headersSent !== true) {
      const status = statusOfError[code] ?? 400;
      // A request whose body fails already has its GUID.
      const correlationId = String(response?.getHeader(correlationHeader) ?? randomUUID());
      log(correlationId, status, code);
      socket.write(
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\n${correlationHeader}: ${correlationId}\r\n\r\n`,
      );
    }
    closeAfterWriting(socket);
  });
  // RFC 9110 section 10.1.1: any expectation except 100-continue.
  server.on('checkExpectation', (_request, response) => {
    const correlationId = randomUUID();
    log(correlationId, 417, 'unknown_expectation');
    response.writeHead(417, { [correlationHeader]: correlationId, Connection: 'close' }).end();
  });
}

/**
 * Answers 400 to a request of HTTP/1.1 without a Host header, and to one with a fragment in its target (RFC
 * 9112 section 3.2): we would cut the target at `#`, and a proxy in front may not. Replaces Node's own check
 * of the header, whose answer has no `X-Correlation-Id`.
 */
function refuseInvalidHeads(listener: RequestListener, logger: Logger | undefined): RequestListener {
  return (request, response) => {
    const { url = '', headers, httpVersion } = request;
    const hasHost = headers.host !== undefined || httpVersion !== '1.1';
    if (hasHost && !url.includes('#')) return listener(request, response);
    const correlationId = randomUUID();
    const code: RefusalCode = hasHost ? 'fragment_in_target' : 'no_host';
    logger?.info({ correlationId, status: 400, code }, 'request could not be read');
    response.writeHead(400, { [correlationHeader]: correlationId, Connection: 'close' }).end();
  };
}

/**
 * Returns the current response of a connection. Node has no public name for it, and storing one for each
 * request would cost more.
 */
function responseUnderWay(socket: Duplex): ServerResponse | undefined {
  const current: unknown = Reflect.get(socket, '_httpMessage');
  return current instanceof http.ServerResponse ? current : undefined;
}

function closeAfterWriting(socket: Duplex): void {
  if ('destroySoon' in socket && typeof socket.destroySoon === 'function') socket.destroySoon();
  else socket.end();
}

/** The largest unread body that is read to its end to keep its connection: cheaper than a round trip. */
const readToTheEndBytes = 64 * 1024;

/**
 * Closes the connection after an answer that did not wait for a large body. Otherwise Node would read that
 * body to its end, at any size, to find the next request. Lets the reader of the body send 100 Continue.
 */
function leaveLargeBodiesUnread(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.once('finish', () => {
      if (!request.complete && isLarge(request)) request.socket.destroySoon();
    });
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A client that gets an answer instead of a 100 sends no body, and its next request would be read as one.
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
}

/** Returns whether a body is large; a chunked body has no declared length. */
function isLarge({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length === undefined || Number(length) > readToTheEndBytes;
}
