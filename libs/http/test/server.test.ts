import { Agent, get, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { describe, expect, it } from '@jest/globals';
import { sendJson } from '../src/answer.ts';
import { createApp } from '../src/app.ts';
import { endpoint, type Handler } from '../src/endpoint.ts';
import { type ErrorDialect, problemDialect } from '../src/errors.ts';
import { createAdminApp, listen, serverTimeouts } from '../src/server.ts';

const loopback = { port: 0, host: '127.0.0.1' };
const shared = { source: '/test', dialect: problemDialect({ isProduction: false }) };

/** Starts a server that delays its answers until the test releases them. */
async function startGatedServer() {
  const { promise: mayAnswer, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const server = await listen(
    async (_request, response) => {
      arrive();
      await mayAnswer;
      response.end('answered');
    },
    { ...loopback, waits: { ...serverTimeouts, stopMs: 3_600_000 } },
  );
  return { ...server, letGo, arrived };
}

function getText(options: { port: number; agent?: Agent }): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', ...options }, (message: IncomingMessage) => {
      let text = '';
      message.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      message.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

describe('a stopping server', () => {
  it('finishes open requests and refuses new connections', async () => {
    const server = await startGatedServer();
    let isStopped = false;
    const underWay = getText(server);
    await server.arrived;
    const stopping = server.stop().then(() => {
      isStopped = true;
    });
    await expect(getText(server)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(isStopped).toBe(false);
    server.letGo();
    expect(await underWay).toBe('answered');
    await stopping;
  });

  it('does not wait for connections that are idle, unused or without a complete request', async () => {
    const server = await startGatedServer();
    const agent = new Agent({ keepAlive: true });
    const unused = connect({ port: server.port, host: '127.0.0.1' });
    await new Promise((resolve) => unused.once('connect', resolve));
    const halfSent = connect({ port: server.port, host: '127.0.0.1' });
    await new Promise((resolve) => halfSent.write('GET / HTTP/1.1\r\nHo', resolve));
    const underWay = getText({ port: server.port, agent });
    await server.arrived;
    // If the server waited for any of these connections, the test would exceed its time limit.
    const stopping = server.stop();
    server.letGo();
    expect(await underWay).toBe('answered');
    await stopping;
    agent.destroy();
    unused.destroy();
    halfSent.destroy();
  });

  it('keeps its port while it runs, so a second server fails with EADDRINUSE', async () => {
    const server = await listen((_request, response) => void response.end(), loopback);
    await expect(listen(() => undefined, { ...loopback, port: server.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await server.stop();
  });
});

describe('the headers of a request', () => {
  it.each([
    [15_000, 200],
    [17_000, 431],
  ])('with %i bytes get the answer %i', async (bytes, status) => {
    const server = await listen((_request, response) => void response.end(), loopback);
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest({ host: '127.0.0.1', port: server.port, headers: { 'X-Long': 'x'.repeat(bytes) } })
        .on('response', (message) => resolve(message.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(answered).toBe(status);
    await server.stop();
  });
});

describe('services that share one address', () => {
  const serve = async (publicUrl?: string) => {
    const echo = (name: string) => ({
      endpoints: [
        endpoint({
          ...shared,
          path: '/here/Exactly',
          methods: { GET: ({ response }) => sendJson(response, { name }) },
        }),
      ],
    });
    const app = createApp({
      mounts: [
        { path: '/below', service: echo('below') },
        { path: '/', service: echo('root') },
      ],
      logger: createRecordedLogger().logger,
      clock: new TestClock(),
      isProduction: false,
      ...(publicUrl && { publicUrl }),
    });
    const server = await listen(app, loopback);
    const answerTo = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      const text = await response.text();
      const { name }: { name?: string } = text === '' ? {} : JSON.parse(text);
      const transport = response.headers.get('strict-transport-security');
      return { status: response.status, text, name, transport, headers: response.headers };
    };
    return { ...server, answerTo };
  };

  it('answer requests under their own paths, and other paths get 404 without a body', async () => {
    const server = await serve();
    expect(await server.answerTo('/below/here/Exactly')).toMatchObject({ status: 200, name: 'below' });
    expect(await server.answerTo('/here/Exactly')).toMatchObject({ status: 200, name: 'root' });
    for (const path of ['/', '/here', '/here/exactly', '/here/Exactly/', '/below/here/EXACTLY']) {
      expect(await server.answerTo(path)).toMatchObject({ status: 404, text: '' });
    }
    await server.stop();
  });

  it('answer requests in the same way whether or not the path of the endpoint has parameters', async () => {
    const dialect: ErrorDialect = (_error, { response }) => {
      response.statusCode = 418;
      response.end();
    };
    const answer: Handler = (exchange) => {
      const { request, response, call, params } = exchange;
      if (request.url?.endsWith('?fails')) throw new Error('no');
      sendJson(response, { params, route: call.route, correlationId: call.correlationId });
    };
    const paths = ['/here', '/*realm/there', '/orders/:guid.xml'];
    const endpoints = paths.map((path) =>
      endpoint({ path, source: '/test', dialect, anyOrigin: true, methods: { GET: answer } }),
    );
    const app = createApp({
      mounts: [{ path: '/', service: { endpoints } }],
      logger: createRecordedLogger().logger,
      clock: new TestClock(),
      isProduction: false,
    });
    const server = await listen(app, loopback);
    const send = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers });
      return { response, status: response.status, text: await response.text() };
    };
    for (const [path, route, params] of [
      ['/here', '/here', {}],
      ['/demo/there', '/*realm/there', { realm: ['demo'] }],
      // Express routes the paths that the lookup table does not contain: realms of several segments, encoded
      // characters, and other parameters.
      ['/demo/desktop/there', '/*realm/there', { realm: ['demo', 'desktop'] }],
      ['/d%65mo/there', '/*realm/there', { realm: ['demo'] }],
      ['/orders/17.xml', '/orders/:guid.xml', { guid: '17' }],
    ] as const) {
      for (const address of [path, `${path}?and=a-query`]) {
        const { response, status, text } = await send(address);
        const correlationId = response.headers.get('x-correlation-id');
        expect([status, JSON.parse(text)]).toEqual([200, { params, route, correlationId }]);
      }
      expect((await send(`${path}?fails`)).status).toBe(418);
      expect(await send(path, 'HEAD')).toMatchObject({ status: 200, text: '' });
      const refused = await send(path, 'DELETE');
      expect([refused.status, refused.response.headers.get('allow')]).toEqual([418, 'GET']);
      const preflight = await send(path, 'OPTIONS', { 'access-control-request-method': 'GET' });
      expect(preflight.status).toBe(204);
      expect(preflight.response.headers.get('access-control-allow-methods')).toBe('GET');
      const slashed = await send(`${path}/`);
      expect([slashed.status, slashed.response.headers.get('launch-refusal')]).toEqual([
        404,
        'trailing_slash',
      ]);
    }
    await server.stop();
  });

  it('forbid MIME sniffing, active content and framing in every answer', async () => {
    const server = await serve();
    for (const path of ['/here/Exactly', '/below/here/Exactly', '/nowhere', '/%zz']) {
      const { headers } = await server.answerTo(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      );
    }
    await server.stop();
  });

  it.each([
    ['https://launch.example', 'max-age=31536000'],
    ['http://localhost:8080', null],
  ])(
    'with the public address %s answer every request, even a refused one, with Strict-Transport-Security %s',
    async (publicUrl, expected) => {
      const server = await serve(publicUrl);
      for (const path of ['/here/Exactly', '/nowhere']) {
        expect((await server.answerTo(path)).transport).toBe(expected);
      }
      await server.stop();
    },
  );
});

describe('the admin endpoints', () => {
  const ask = async (path: string, checks: Parameters<typeof createAdminApp>[0]) => {
    const server = await listen(createAdminApp(checks), loopback);
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    const answer: unknown = await response.json();
    await server.stop();
    return { status: response.status, answer };
  };
  const up = async () => true;
  const parts = { up, down: async () => false, away: () => Promise.reject(new Error('redis://secret')) };

  it('report that the process is alive even if its dependencies are down', async () => {
    expect(await ask('/healthz', parts)).toEqual({ status: 200, answer: { status: 'ok' } });
  });

  it('report that the process is ready if every dependency is ready', async () => {
    expect(await ask('/readyz', { storage: up, tickets: up })).toEqual({
      status: 200,
      answer: { status: 'ok', parts: { storage: true, tickets: true } },
    });
  });

  it('report the names of the dependencies that are down, without error details (503)', async () => {
    expect(await ask('/readyz', parts)).toEqual({
      status: 503,
      answer: { status: 'not ready', parts: { up: true, down: false, away: false } },
    });
  });
});
