import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** As much of an unread body as is read to its end, to keep its connection: less than a round trip costs. */
const readToTheEndBytes = 64 * 1024;

/** Whether the client waits with its body until the server has seen the header (RFC 9110 section 10.1.1). */
export function isAwaitingContinue({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.expect?.toLowerCase() === '100-continue';
}

/**
 * Closes the connection after an answer that did not wait for a large body. Node would otherwise read that body to its
 * end, at whatever size, to find the next request. Leaves it to the reader of the body to send 100 Continue.
 */
export function leaveLargeBodiesUnread(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.once('finish', () => {
      if (!request.complete && isLarge(request)) request.socket.destroySoon();
    });
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A client that is answered without a 100 sends no body, and what it sends next would be taken for one.
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
}

/** A chunked body does not say how long it is. */
function isLarge({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length === undefined || Number(length) > readToTheEndBytes;
}
