import { describe, expect, it } from '@jest/globals';
import { listen, type Patience, patience } from '../src/server.ts';
import { exchange } from './serve-routes.ts';

/** Longer than a test may take: a server that waited for it would make the test fail. */
const hour = 3_600_000;

/** Returns what the server answered before it closed the connection. */
async function answerTo(sent: string, waits: Patience) {
  const server = await listen((request, response) => void request.resume().on('end', () => response.end()), {
    port: 0,
    host: '127.0.0.1',
    waits,
  });
  const answer = await exchange(server.port, sent);
  await server.stop();
  return answer;
}

/** The tests wait for shorter times; each is the only one that ends in time. */
describe('a server waits', () => {
  it.concurrent('fifteen seconds for the requests under way when it stops', async () => {
    expect(patience.stopMs).toBe(15_000);
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = await listen((request) => void request.resume().once('data', () => arrive()), {
      port: 0,
      host: '127.0.0.1',
      waits: { headersMs: hour, requestMs: hour, stopMs: 500 },
    });
    const closed = exchange(server.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await arrived;
    await server.stop();
    await closed;
  });

  it.concurrent('ten seconds for the headers of a request and fifteen for the whole of it, then answers 408', async () => {
    expect(patience).toMatchObject({ headersMs: 10_000, requestMs: 15_000 });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n';
    const answers = await Promise.all([
      answerTo(head, { headersMs: 500, requestMs: hour, stopMs: hour }),
      answerTo(`${head}\r\nhalf`, { headersMs: 500, requestMs: 1500, stopMs: hour }),
    ]);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toMatch(/\r\nX-Correlation-Id: [0-9a-f-]{36}\r\n/);
    }
  });
});
