import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startEdgeBefore } from './running-edge.ts';

export type FailingService = Awaited<ReturnType<typeof startEdgeOfFailingService>>;

/** How the service fails, by the last segment of the path. */
const failures: Readonly<Record<string, RequestListener>> = {
  closes: ({ socket }) => socket.destroy(),
  waits: () => undefined,
  answers: (_request, response) =>
    response.writeHead(503, { 'Content-Type': 'text/plain', 'Content-Length': 4 }).end('busy'),
};

/** Runs the shipped configuration in front of a service that is ready but fails. */
export async function startEdgeOfFailingService() {
  const server = createServer((request, response) => {
    const fail = failures[request.url?.split('/').at(-1) ?? ''];
    if (fail === undefined) response.end();
    else fail(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stopService = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  const edge = await startEdgeBefore({ port, serverTimeoutMs: 500, environment: {} }).catch(
    async (error: unknown) => {
      await stopService();
      throw error;
    },
  );
  return {
    url: edge.url,
    plain: edge.plain,
    stopService,
    async stop() {
      await edge.stop();
      await stopService();
    },
  };
}
