import { connect } from 'node:net';
import { createRefusals, type RefusalsOptions } from '@clinical-launch/limits/refusals';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createApp } from '../src/app.ts';
import type { Admission } from '../src/call.ts';
import { type Endpoint, endpoint, type Handler } from '../src/endpoint.ts';
import { problemDialect } from '../src/errors.ts';
import { listen } from '../src/server.ts';

type Route = (
  path: string,
  methods: Readonly<Partial<Record<'GET' | 'POST', Handler>>>,
  options?: Partial<Omit<Parameters<typeof endpoint>[0], 'path' | 'methods' | 'place'>>,
) => Endpoint;

/** Serves endpoints on a free port in the same way as a service, and records the log. */
export async function serveRoutes(
  createRoutes: (route: Route) => readonly Endpoint[],
  {
    isProduction = false,
    trustedProxies = 0,
    admission,
    ...refusing
  }: { isProduction?: boolean; trustedProxies?: number; admission?: Admission } & Partial<
    Pick<RefusalsOptions, 'limits' | 'limit'>
  > = {},
) {
  const clock = new TestClock();
  const { logger, lines } = createRecordedLogger();
  const dialect = problemDialect({ isProduction });
  const endpoints = createRoutes((path, methods, options = {}) =>
    endpoint({ source: '/test', dialect, ...options, path, methods }),
  );
  const mounts = [{ path: '/', service: { endpoints } }];
  const { limits = keepsNothing, limit } = refusing;
  const refusals = createRefusals({ limits, limit, clock, logger });
  const app = { mounts, logger, clock, isProduction, trustedProxies, refusals };
  const server = await listen(createApp({ ...app, ...(admission && { admission }) }), {
    port: 0,
    host: '127.0.0.1',
    logger,
  });
  return {
    clock,
    port: server.port,
    url: `http://127.0.0.1:${server.port}`,
    refusals,
    stop: async () => {
      await server.stop();
      await refusals.stop();
    },
    lines,
    /** Stops the server, which logs every request first, and returns the log. */
    async log(): Promise<Record<string, unknown>[]> {
      await server.stop();
      return lines.map((line): Record<string, unknown> => JSON.parse(line));
    },
  };
}

const keepsNothing = { refuse: async () => ({ overForMs: 0, dropped: 0 }) };

/** Sends text over a new connection. Resolves with the answer when the server closes the connection. */
export function exchange(port: number, sent: string, { thenEnd = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      if (thenEnd) socket.end(sent);
      else socket.write(sent);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    // The server may reset the connection after its answer, which is not an error here.
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received));
  });
}
