import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { until } from '@clinical-launch/testing/until';

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The order's GUID in the body. Empty if the body is not a callback. */
  readonly orderGuid: string;
};

/** Writes the receiver's response, which may be invalid HTTP. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const answering =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (_request, response) =>
    void response.writeHead(status, headers).end();

export type CallbackReceiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts the server of a practice system on this machine, which records requests and answers as configured. */
export async function startReceiver(tls?: ServerOptions) {
  const received: Received[] = [];
  const behaviour = { now: answering(204) };
  let underWay = 0;
  let mostUnderWay = 0;
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    response.once('close', () => (underWay -= 1));
    const body = await readBody(request);
    received.push({ path: request.url ?? '', headers: request.headers, body, orderGuid: orderGuidIn(body) });
    behaviour.now(request, response, body);
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => void listener(request, response);
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/callbacks`,
    received,
    mostUnderWay: () => mostUnderWay,
    behave(next: Behaviour): void {
      behaviour.now = next;
    },
    /** Waits for `count` requests about an order and returns them. */
    async receives(count: number, orderGuid: string) {
      const ofOrder = () => received.filter((one) => one.orderGuid === orderGuid);
      await until(() => ofOrder().length >= count);
      return ofOrder();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function orderGuidIn(body: string): string {
  try {
    return (JSON.parse(body) as { data: { orderGuid: string } }).data.orderGuid;
  } catch {
    return '';
  }
}
