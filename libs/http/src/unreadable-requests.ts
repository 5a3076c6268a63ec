import { randomUUID } from 'node:crypto';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RefusalCode } from '@clinical-launch/contracts/refusals/codes';
import type { Logger } from '@clinical-launch/runtime/logger';
import { http } from './node-http.ts';

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
export function answerUnreadableRequests(server: Server, logger: Logger | undefined): void {
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
export function refuseInvalidHeads(listener: RequestListener, logger: Logger | undefined): RequestListener {
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
