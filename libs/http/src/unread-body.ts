import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The largest unread body that is read to its end to keep its connection: cheaper than a round trip. */
const readToTheEndBytes = 64 * 1024;

/**
 * Returns whether the client delays its body until the server has read the header (RFC 9110 section 10.1.1).
 */
export function isAwaitingContinue({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.expect?.toLowerCase() === '100-continue';
}

/**
 * Closes the connection after an answer that did not wait for a large body. Otherwise Node would read that
 * body to its end, at any size, to find the next request. Lets the reader of the body send 100 Continue.
 */
export function leaveLargeBodiesUnread(server: Server): void {
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
