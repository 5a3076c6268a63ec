import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type CuttingProxy = {
  readonly port: number;
  /** The number of replies that were cut. */
  readonly cuts: number;
  /** Drops the next `replies` replies, and closes the connection of each. */
  cut(replies: number): void;
  stop(): Promise<void>;
};

/** Starts a TCP proxy that loses replies: the request is executed, but its reply never arrives. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let left = 0;
  let cuts = 0;
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    const end = () => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.pipe(target);
    target.on('data', (reply) => {
      if (left === 0) return void client.write(reply);
      // The reply to a handshake is not cut and does not count.
      if (!requesting.has(client)) return void client.write(reply);
      left -= 1;
      cuts += 1;
      end();
    });
    client.on('data', (request) => {
      if (/\bevalsha\b|\beval\b/i.test(request.toString('latin1'))) requesting.add(client);
    });
  });
  const requesting = new WeakSet<Socket>();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given');
  return {
    port: address.port,
    get cuts() {
      return cuts;
    },
    cut: (replies) => {
      left = replies;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
