import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { sendText } from '../src/answer.ts';
import { readForm } from '../src/body.ts';
import { exchange, serveRoutes } from './serve-routes.ts';

type Server = Awaited<ReturnType<typeof start>>;

const start = () =>
  serveRoutes((route) => [
    route('/', { GET: ({ response }) => sendText(response, 'text/plain', 'answered') }),
    route('/form', {
      async POST(exchange) {
        await readForm(exchange);
        exchange.response.end();
      },
    }),
    // This endpoint starts its answer before it has read the request body.
    route('/early', { POST: ({ response, call }) => void response.write(call.correlationId) }),
  ]);

async function served(run: (server: Server) => Promise<string>) {
  const server = await start();
  const answer = await run(server);
  const log = await server.log();
  return { answer, log };
}

const guid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const idOf = (answer: string) => new RegExp(`X-Correlation-Id: (${guid})\r\n`, 'i').exec(answer)?.[1];
const unread = (log: Record<string, unknown>[]) =>
  log.filter(({ msg }) => msg === 'request could not be read');

describe('a request that is not valid HTTP', () => {
  it.each([
    [400, 'not in HTTP', 'SECRET\r\n\r\n'],
    [400, 'without a Host', 'GET /?SECRET HTTP/1.1\r\n\r\n'],
    [400, 'with two Hosts', 'GET /?SECRET HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
    [400, 'with a list as Host', 'GET /?SECRET HTTP/1.1\r\nHost: x, y\r\n\r\n'],
    [400, 'with a path in Host', 'GET /?SECRET HTTP/1.1\r\nHost: x/y\r\n\r\n'],
    [400, 'with # in its path', 'GET /early#/SECRET HTTP/1.1\r\nHost: x\r\n\r\n'],
    [400, 'with # in its query', 'GET /early?a#SECRET HTTP/1.1\r\nHost: x\r\n\r\n'],
    [400, 'with # in an absolute target', 'GET http://x/early#SECRET HTTP/1.1\r\nHost: x\r\n\r\n'],
    [
      400,
      'with two lengths',
      'POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nContent-Length: 7\r\n\r\nSECRET',
    ],
    [400, 'that is incomplete', 'GET /?SECRET HTTP/1.1\r\nHo'],
    [
      431,
      'with 17,000 bytes of headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: SECRET${'x'.repeat(17_000)}\r\n\r\n`,
    ],
    [413, 'with a long chunk extension', chunked(`1;SECRET${'x'.repeat(17_000)}\r\na\r\n0\r\n\r\n`)],
    [417, 'with an unknown expectation', 'GET /?SECRET HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n'],
  ])('is answered %i, and logged once with its correlation id: %s', async (...row) => {
    const [status, , sent] = row;
    const { answer, log } = await served(({ port }) => exchange(port, sent, { thenEnd: true }));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    const correlationId = idOf(answer);
    expect(correlationId).toBeDefined();
    expect(unread(log)).toEqual([expect.objectContaining({ status, correlationId })]);
    expect(JSON.stringify(log)).not.toContain('SECRET');
  });

  it('is answered with the correlation id that it already has if only its body is invalid', async () => {
    const { answer, log } = await served(({ port }) => exchange(port, chunked('no chunk\r\n')));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    const correlationId = idOf(answer);
    expect(correlationId).toBeDefined();
    expect(log).toContainEqual(expect.objectContaining({ msg: 'request answered', correlationId }));
  });

  it('adds nothing to an answer that has already started', async () => {
    const { answer } = await served(
      ({ port }) =>
        new Promise((resolve) => {
          let received = '';
          const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(chunked('', '/early')));
          socket.on('data', (data) => {
            if (received === '') socket.write('no chunk\r\n');
            received += data.toString('latin1');
          });
          socket.on('close', () => resolve(received));
        }),
    );
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('does not affect other clients, even if its client resets the connection', async () => {
    const server = await start();
    for (let client = 0; client < 50; client += 1) {
      await new Promise<void>((resolve) => {
        const socket = connect({ port: server.port, host: '127.0.0.1' }, () => {
          socket.write('SECRET\r\n\r\n', () => socket.resetAndDestroy());
        });
        socket.on('close', () => resolve());
      });
    }
    expect((await fetch(server.url)).status).toBe(200);
    await server.stop();
  });
});

function chunked(body: string, path = '/form'): string {
  const headers = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/x-www-form-urlencoded',
    'Transfer-Encoding: chunked',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
