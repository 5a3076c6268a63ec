import { describe, expect, it } from '@jest/globals';
import { listen } from '../src/http/index.ts';
import { exchange } from './serve-routes.ts';

/** Returns how long the server waited until it answered and closed the connection. */
async function patienceWith(sent: string) {
  const server = await listen((request, response) => void request.resume().on('end', () => response.end()), {
    port: 0,
    host: '127.0.0.1',
  });
  const startedAt = performance.now();
  const answer = await exchange(server.port, sent);
  const waitedMs = performance.now() - startedAt;
  await server.stop();
  return { answer, waitedMs };
}

/** Returns how long a server took to stop during a request whose sender had gone silent. */
async function stopsWithSilentSenderAfter() {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const server = await listen((request) => void request.resume().once('data', () => arrive()), {
    port: 0,
    host: '127.0.0.1',
  });
  const closed = exchange(server.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
  await arrived;
  const startedAt = performance.now();
  await server.stop();
  await closed;
  return performance.now() - startedAt;
}

describe('a server waits', () => {
  it.concurrent('fifteen seconds for the requests under way when it stops', async () => {
    const waitedMs = await stopsWithSilentSenderAfter();
    expect(waitedMs).toBeGreaterThan(14_500);
    expect(waitedMs).toBeLessThan(19_000);
  });

  it.concurrent('ten seconds for the headers of a request and fifteen for the whole of it, then answers 408', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n';
    const [headers, body] = await Promise.all([patienceWith(head), patienceWith(`${head}\r\nhalf`)]);
    expect(headers.answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(body.answer).toMatch(/^HTTP\/1\.1 408 /);
    for (const { answer } of [headers, body])
      expect(answer).toMatch(/\r\nX-Correlation-Id: [0-9a-f-]{36}\r\n/);
    expect(headers.waitedMs).toBeGreaterThan(9500);
    expect(headers.waitedMs).toBeLessThan(14_000);
    expect(body.waitedMs).toBeGreaterThan(14_500);
    expect(body.waitedMs).toBeLessThan(19_000);
  });
});
