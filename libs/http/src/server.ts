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
  /** Accepts no more connections, waits at most `waits.stopMs` for current requests, and resolves. */
  stop(): Promise<void>;
};

/** The timeouts of a server, in milliseconds. */
export type ServerTimeouts = {
  /** The maximum time to receive the headers of a request. */
  readonly headersMs: number;
  /** The maximum time to receive a whole request. */
  readonly requestMs: number;
  /** The maximum time that a stopping server waits for current requests. */
  readonly stopMs: number;
};

/** The timeouts are short, because requests to the platform are small. */
export const serverTimeouts: ServerTimeouts = { headersMs: 10_000, requestMs: 15_000, stopMs: 15_000 };

export type ListenOptions = {
  /** The port, or 0 for any free port. */
  readonly port: number;
  readonly host?: string;
  /** Logs requests that are not valid HTTP, which never reach the listener. */
  readonly logger?: Logger;
  /** The timeouts. By default, `serverTimeouts`. */
  readonly waits?: ServerTimeouts;
};

/** Starts a server, and resolves when it listens on the port. */
export async function listen(
  listener: RequestListener,
  { port, host, logger, waits = serverTimeouts }: ListenOptions,
): Promise<RunningServer> {
  const server = http.createServer(
    {
      headersTimeout: waits.headersMs,
      requestTimeout: waits.requestMs,
      connectionsCheckingInterval: waits.headersMs / 10,
      keepAliveTimeout: 65_000,
      // `refuseInvalidHeads` checks the Host header instead.
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
 * Counts the current requests of each connection. The returned function closes idle connections immediately,
 * and other connections after their answer. `closeIdleConnections` of Node is not enough. It does not close
 * connections that have sent nothing yet, which browsers open in advance. It also does not close connections
 * that become idle later, before their keep-alive time ends.
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
  // After `server.close`, Node no longer checks request timeouts, so a silent client could
  // keep the server open.
  const deadline = setTimeout(() => server.closeAllConnections(), withinMs);
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    closeQuietConnections();
  }).finally(() => clearTimeout(deadline));
}

/**
 * Creates the endpoints of the admin port. `/healthz` answers 200 if the process runs, and `/readyz` answers
 * 200 if all checks succeed. `/metrics` exists if a handler is passed.
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

/** The status for each error code of Node's HTTP parser. All other errors have the status 400. */
const statusOfError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers requests that Node does not pass to a listener. Sends the same answer as Node: the status (400,
 * 408, 413, 417 or 431), `Connection: close` and no body. Adds `X-Correlation-Id`, and logs each request once
 * with this id. Logs only the code of the parser error, because the error contains the request. Never throws,
 * even if the connection is closed.
 */
function answerUnreadableRequests(server: Server, logger: Logger | undefined): void {
  const log = (correlationId: string, status: number, code: string) =>
    logger?.info({ correlationId, status, code }, 'request could not be read');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { code = '' } = error;
    const response = responseUnderWay(socket);
    if (socket.writable && response?.headersSent !== true) {
      const status = statusOfError[code] ?? 400;
      // If only the body is malformed, the request already has a GUID.
      const correlationId = String(response?.getHeader(correlationHeader) ?? randomUUID());
      log(correlationId, status, code);
      socket.write(
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\n${correlationHeader}: ${correlationId}\r\n\r\n`,
      );
    }
    closeAfterWriting(socket);
  });
  // Node emits this event for every expectation except 100-continue (RFC 9110 section 10.1.1).
  server.on('checkExpectation', (_request, response) => {
    const correlationId = randomUUID();
    log(correlationId, 417, 'unknown_expectation');
    response.writeHead(417, { [correlationHeader]: correlationId, Connection: 'close' }).end();
  });
}

/** The form of a Host header: a host and a port (RFC 9110 section 7.2). */
const validHost = /^[\w.~!$&'()*+;=%:[\]-]*$/;

/**
 * Answers 400 to an HTTP/1.1 request without exactly one valid Host header, and to a request with a fragment in
 * its target (RFC 9112 section 3.2). This server and a proxy in front could interpret a target with `#` differently. The
 * check of the Host header replaces the check in Node, whose answer contains no `X-Correlation-Id`.
 */
function refuseInvalidHeads(listener: RequestListener, logger: Logger | undefined): RequestListener {
  return (request, response) => {
    const { url = '', headers, rawHeaders, httpVersion } = request;
    const { host = httpVersion === '1.1' ? undefined : '' } = headers;
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name));
    const hasHost = host !== undefined && validHost.test(host) && hosts.length < 2;
    if (hasHost && !url.includes('#')) return listener(request, response);
    const correlationId = randomUUID();
    const code: RefusalCode = hasHost ? 'fragment_in_target' : 'no_host';
    logger?.info({ correlationId, status: 400, code }, 'request could not be read');
    response.writeHead(400, { [correlationHeader]: correlationId, Connection: 'close' }).end();
  };
}

/**
 * Returns the current response of a connection. Node has no public API for this, and storing the response of
 * each connection would cost more.
 */
function responseUnderWay(socket: Duplex): ServerResponse | undefined {
  const current: unknown = Reflect.get(socket, '_httpMessage');
  return current instanceof http.ServerResponse ? current : undefined;
}

function closeAfterWriting(socket: Duplex): void {
  if ('destroySoon' in socket && typeof socket.destroySoon === 'function') socket.destroySoon();
  else socket.end();
}

/**
 * After an early answer, the server still reads bodies up to this size, so that the connection stays open.
 * Reading is faster than a new connection.
 */
const readToTheEndBytes = 64 * 1024;

/**
 * Closes the connection if a request was answered before its large body was read. Otherwise, Node would read
 * the whole body, of any size, to find the next request. Also lets `readBytes` decide whether to send 100
 * Continue.
 */
function leaveLargeBodiesUnread(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.once('finish', () => {
      if (!request.complete && isLarge(request)) request.socket.destroySoon();
    });
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A client that receives a final answer instead of 100 sends no body. Without `close`, the server would
    // read the next request of the client as that body.
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
}

/** Returns true if a body is large. A chunked body counts as large, because its length is not declared. */
function isLarge({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length === undefined || Number(length) > readToTheEndBytes;
}
