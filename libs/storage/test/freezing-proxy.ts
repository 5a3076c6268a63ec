import { connect, createServer, type Socket } from 'node:net';

export type FreezingProxy = {
  /** The server's URL with the proxy's address. */
  readonly url: string;
  /** Stops forwarding in both directions without closing connections. */
  freeze(): void;
  /** Forwards the waiting data, and resumes forwarding. */
  thaw(): void;
  stop(): Promise<void>;
};

/** Starts a TCP proxy that can behave like a host that hangs or a network that drops packets. */
export async function startFreezingProxy(serverUrl: string): Promise<FreezingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isFrozen) from.pause();
    }
  });
  await new Promise<void>((listening) => server.listen({ port: 0, host: '127.0.0.1' }, listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
