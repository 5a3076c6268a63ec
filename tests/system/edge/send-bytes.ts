import { connect, type Socket } from 'node:net';
import { connect as connectWithTls } from 'node:tls';

type Connection = { readonly port: number; readonly ca?: string };

export type Answer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /**
   * The number of bytes of the request that were sent before the server answered or closed the connection.
   */
  readonly bytesSent: number;
};

/**
 * Sends a request over a separate connection. Sends the body in pieces. When an answer arrives, stops sending
 * and ends its side of the connection, because HAProxy 3 otherwise waits for the rest of a refused body.
 * Resolves with the answer when the server has closed the connection.
 */
export async function sendBytes(
  { port, ca }: Connection,
  head: readonly string[],
  body: Iterable<string> = [],
): Promise<Answer> {
  const socket =
    ca === undefined ? connect(port, '127.0.0.1') : connectWithTls({ port, host: '127.0.0.1', ca });
  let received = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    .once('data', () => socket.end());
  await write(socket, [...head, '', ''].join('\r\n'));
  for (const piece of body) {
    if (received !== '' || socket.destroyed) break;
    await write(socket, piece);
  }
  await closed;
  return { ...parse(received), bytesSent: socket.bytesWritten };
}

/** Resolves when the bytes have been sent, or the connection has ended. */
function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => socket.write(text, () => resolve()));
}

function parse(received: string): Pick<Answer, 'status' | 'headers' | 'body'> {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => /^([^:]+): *(.*)$/.exec(line) ?? []);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: new Map(headers.map(([, name = '', value = '']) => [name.toLowerCase(), value])),
    body: rest.join('\r\n\r\n'),
  };
}
