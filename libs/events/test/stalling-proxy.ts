import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Starts a TCP proxy in front of a broker. The proxy can stall or close every connection. */
export async function startStallingProxy(brokerUrl: string) {
  const broker = new URL(brokerUrl);
  const sockets = new Set<Socket>();
  let isStalled = false;
  let isRefusing = false;
  let refused = 0;

  const server = createServer((client) => {
    if (isRefusing) {
      refused += 1;
      return void client.destroy();
    }
    const upstream = connect({ host: broker.hostname, port: Number(broker.port || 5672) });
    for (const [socket, peer] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(socket);
      socket.on('data', (chunk) => peer.write(chunk));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
      if (isStalled) socket.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  const url = new URL(brokerUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    url: url.href,
    /** Stops forwarding in both directions on current and new connections, and leaves them open. */
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    /** Forwards the data that has arrived, and resumes forwarding. */
    flow() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    /** Closes every connection. */
    cut,
    /** Closes every current and new connection until it is called with false. */
    refuse(isRefused: boolean) {
      isRefusing = isRefused;
      if (isRefused) cut();
    },
    /** Returns the number of new connections that `refuse` closed. */
    refused: () => refused,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
