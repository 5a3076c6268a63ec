import { describe, expect, it } from '@jest/globals';
import { listen, type Patience, patience } from '../src/http/index.ts';
import { exchange } from './serve-routes.ts';

const minute = 60_000;

/** Returns how long the server waited until it answered and closed the connection. */
async function answerTo(sent: string, waits: Patience) {
  const server = await listen((request, response) => void request.resume().on('end', () => response.end()), {
    port: 0,
    host: '127.0.0.1',
    waits,
  });
  const startedAt = performance.now();
  const answer = await exchange(server.port, sent);
  const waitedMs = performance.now() - startedAt;
  await server.stop();
  return { answer, waitedMs };
}

/** Returns how long a server took to stop during a request whose sender had gone silent. */
async function stopsWithSilentSenderAfter(stopMs: number) {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const server = await listen((request) => void request.resume().once('data', () => arrive()), {
    port: 0,
    host: '127.0.0.1',
    waits: { headersMs: minute, requestMs: minute, stopMs },
  });
  const closed = exchange(server.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
  await arrived;
  const startedAt = performance.now();
  await server.stop();
  await closed;
  return performance.now() - startedAt;
}

/** The tests wait for shorter times; each is the only one that ends in time. */
describe('a server waits', () => {
  it.concurrent('fifteen seconds for the requests under way when it stops', async () => {
    expect(patience.stopMs).toBe(15_000);
    const waitedMs = await stopsWithSilentSenderAfter(1500);
    expect(waitedMs).toBeGreaterThan(1450);
    expect(waitedMs).toBeLessThan(5500);
  });

  it.concurrent('ten seconds for the headers of a request and fifteen for the whole of it, then answers 408', async () => {
    expect(patience).toMatchObject({ headersMs: 10_000, requestMs: 15_000 });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n';
    const [headers, body] = await Promise.all([
      answerTo(head, { headersMs: 1000, requestMs: minute, stopMs: minute }),
      answerTo(`${head}\r\nhalf`, { headersMs: 500, requestMs: 1500, stopMs: minute }),
    ]);
    expect(headers.answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(body.answer).toMatch(/^HTTP\/1\.1 408 /);
    for (const { answer } of [headers, body])
      expect(answer).toMatch(/\r\nX-Correlation-Id: [0-9a-f-]{36}\r\n/);
    expect(headers.waitedMs).toBeGreaterThan(950);
    expect(headers.waitedMs).toBeLessThan(5000);
    expect(body.waitedMs).toBeGreaterThan(1450);
    expect(body.waitedMs).toBeLessThan(5500);
  });
});
