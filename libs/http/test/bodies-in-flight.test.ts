import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmission } from '../src/admission.ts';
import { sendJson } from '../src/answer.ts';
import { readJson } from '../src/body.ts';
import type { Exchange } from '../src/endpoint.ts';
import { exchange, serveRoutes } from './serve-routes.ts';

const limitBytes = 256 * 1024;
const mebibyte = 1024 * 1024;

/** Called when the server begins to read a body. */
let onBegun = () => {};

/** Called when the server has read a body. The server answers afterwards. */
let onRead = async () => {};

const read = async (sent: Exchange) => {
  const reading = readJson(sent, { types: ['application/json'], limitBytes });
  onBegun();
  await reading;
  await onRead();
  sendJson(sent.response, {});
};

const start = () =>
  serveRoutes(
    (route) => [
      route('/', { POST: read }),
      route('/of-client', {
        POST(sent) {
          sent.call.identify(`client ${String(sent.request.headers['x-client'])}`);
          return read(sent);
        },
      }),
    ],
    // Only the bodies are limited here.
    { trustedProxies: 1, admission: createAdmission({ limit: 1000 }) },
  );

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

const head = (path: string, ...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');

const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

/**
 * Sends 250,000 of 262,144 bytes over each of `count` connections, and waits until the server has refused so
 * many that the rest fits into `fitting` bytes. Returns the refusals.
 */
async function stall(path: string, count: number, fitting: number, header: (index: number) => string) {
  const refused: string[] = [];
  const sentBytes = 250_000;
  await new Promise<void>((resolve) => {
    for (let index = 0; index < count; index += 1) {
      const socket = connect({ port: server.port, host: '127.0.0.1' });
      open.add(socket);
      let answer = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        answer += text;
      });
      // The server may reset the connection after its answer.
      socket
        .on('error', () => undefined)
        .on('close', () => {
          if (open.delete(socket)) refused.push(answer);
          if ((count - refused.length) * sentBytes <= fitting) resolve();
        });
      socket.write(head(path, `Content-Length: ${limitBytes}`, header(index)));
      socket.write(' '.repeat(sentBytes));
    }
  });
  return refused;
}

/**
 * Sends a whole body of 250,000 bytes. Returns the status. The client still sends when the server closes the
 * connection after a 503, and can lose this answer.
 */
const send = async (path: string, headers: Record<string, string>) => {
  const type = { 'Content-Type': 'application/json' };
  const body = JSON.stringify('x'.repeat(250_000));
  const sent = fetch(server.url + path, { method: 'POST', body, headers: { ...type, ...headers } });
  return sent.then(
    ({ status }) => status,
    () => 503,
  );
};

/** Repeats a request until the server has noticed that other connections were closed. */
async function becomes200(request: () => Promise<number>) {
  while ((await request()) !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('bodies that are being sent', () => {
  it('of one client are answered 503 above 16 MiB until its requests are answered, and other clients are served', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let [held, status] = [0, 0];
    const waiting: Promise<number>[] = [];
    while (status !== 503) {
      const { promise: isRead, resolve } = Promise.withResolvers<void>();
      onRead = () => {
        resolve();
        return released;
      };
      const answer = send('/of-client', { 'X-Client': 'one' });
      waiting.push(answer);
      status = (await Promise.race([isRead, answer])) ?? 0;
      held += status === 503 ? 0 : 1;
    }
    onRead = async () => {};
    expect([held >= 60, held <= 67]).toEqual([true, true]);
    expect(await send('/of-client', { 'X-Client': 'other' })).toBe(200);
    release();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([200, 503]));
    await becomes200(() => send('/of-client', { 'X-Client': 'one' }));
  });

  it('are answered 503 with Retry-After, and the connection is closed', async () => {
    const refused = await stall('/of-client', 120, 16 * mebibyte, () => 'X-Client: one');
    // The client still sends when the server closes the connection, and can lose an answer.
    const answers = refused.filter((answer) => answer !== '');
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      expect(answer).toMatch(/\r\nRetry-After: 1\r\n/i);
      expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    }
    for (const socket of open) socket.destroy();
    await becomes200(() => send('/of-client', { 'X-Client': 'one' }));
  });

  it('of one network are answered 503 above 16 MiB if their callers are unknown', async () => {
    await stall('/', 90, 16 * mebibyte, (index) => `X-Forwarded-For: 2001:db8::${index + 1}`);
    expect(await send('/', { 'X-Forwarded-For': '2001:db8:0:1::1' })).toBe(200);
    expect(await send('/of-client', { 'X-Client': 'one' })).toBe(200);
  });

  it('of all callers together are answered 503 above 64 MiB', async () => {
    const refused = await stall('/of-client', 300, 64 * mebibyte, (index) => `X-Client: ${index % 8}`);
    expect(refused.length).toBeGreaterThanOrEqual(300 - Math.floor((64 * mebibyte) / 250_000));
    for (const socket of open) socket.destroy();
    await becomes200(() => send('/of-client', { 'X-Client': 'next' }));
  });

  it('in pieces of one byte count with the memory of each piece', async () => {
    const sockets = Array.from({ length: 3 }, () => connect({ port: server.port, host: '127.0.0.1' }));
    for (const socket of sockets) open.add(socket.on('error', () => undefined));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) {
      socket.setNoDelay(true);
      socket.write(head('/of-client', 'Transfer-Encoding: chunked', 'X-Client: drip'));
    }
    const answered = Promise.race(sockets.map(async (socket) => String((await once(socket, 'data'))[0])));
    let answer: string | undefined;
    void answered.then((text) => {
      answer = text;
    });
    // 3 bodies of 262,144 bytes are 0.75 MiB, and 16 MiB are 65,281 pieces of one byte.
    const piece = '1\r\n1\r\n'.repeat(500);
    for (let sent = 0; sent < 500 && answer === undefined; sent += 1) {
      for (const socket of sockets)
        if (!socket.destroyed && !socket.write(piece)) await once(socket, 'drain').catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await answered).toMatch(/^HTTP\/1\.1 503 /);
  });
});

describe('a slow body', () => {
  afterEach(() => mock.timers.reset());

  const begin = (length: number | undefined) => {
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    onBegun = resolve;
    const size = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    const answer = exchange(server.port, `${head('/', size, 'Connection: close')}`);
    return { begun, answer };
  };

  it('of at most 64 KiB is answered 408 after five seconds, and the connection is closed', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { begun, answer } = begin(65_536);
    await begun;
    mock.timers.tick(4999);
    mock.timers.tick(1);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [^]*\r\nConnection: close\r\n/i);
  });

  it('of more than 64 KiB may take longer', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    onBegun = resolve;
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    open.add(socket);
    socket.write(head('/', 'Content-Length: 65537'));
    await begun;
    mock.timers.tick(14_000);
    socket.write('1'.padEnd(65_537));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  });
});
