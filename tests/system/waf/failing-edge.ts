import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { startWaf } from './running-waf.ts';

/**
 * Runs the firewall in front of an edge that fails: it answers `/refuses` with 502, does not answer `/waits`,
 * and otherwise closes the connection.
 */
export async function startWafOfFailingEdge() {
  const edge = createServer((request, response) => {
    if (request.url === '/refuses')
      response.writeHead(502, { 'Content-Type': 'text/plain', 'Content-Length': 7 }).end('refused');
    else if (request.url !== '/waits') request.socket.destroy();
  });
  await new Promise<void>((resolve) => edge.listen(0, '127.0.0.1', resolve));
  const stopEdge = async () => {
    edge.closeAllConnections();
    await new Promise((resolve) => edge.close(resolve));
  };
  const { port: edgePort } = edge.address() as AddressInfo;
  const port = await findFreePort();
  const plan = { edgeUrl: `http://127.0.0.1:${edgePort}`, port, level: 1, edgeTimeoutMs: 500 };
  const waf = await startWaf(plan).catch(async (error: unknown) => {
    await stopEdge();
    throw error;
  });
  return {
    url: waf.url,
    port,
    async stop() {
      await waf.stop();
      await stopEdge();
    },
  };
}
