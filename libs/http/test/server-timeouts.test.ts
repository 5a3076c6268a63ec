import { describe, expect, it } from '@jest/globals';
import { listen, type ServerTimeouts, serverTimeouts } from '../src/server.ts';
import { exchange } from './serve-routes.ts';

/** An hour exceeds the time limit of a test, so a test fails if the server waits for an hour. */
const hour = 3_600_000;

/** Sends text to a server with these timeouts. Returns everything that the server answers. */
async function answerTo(sent: string, waits: ServerTimeouts) {
  const server = await listen((request, response) => void request.resume().on('end', () => response.end()), {
    port: 0,
    host: '127.0.0.1',
    waits,
  });
  const answer = await exchange(server.port, sent);
  await server.stop();
  return answer;
}

/** Each test shortens the timeout under test, and sets the other timeouts to an hour. */
describe('a server', () => {
  it.concurrent('waits at most fifteen seconds for open requests when it stops', async () => {
    expect(serverTimeouts.stopMs).toBe(15_000);
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

  it.concurrent('answers 408 if the headers are incomplete after ten seconds, or the whole request after fifteen seconds', async () => {
    expect(serverTimeouts).toMatchObject({ headersMs: 10_000, requestMs: 15_000 });
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
