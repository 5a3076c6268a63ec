import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendJson } from '../src/answer.ts';
import { readForm, readJson } from '../src/body.ts';
import { exchange, serveRoutes } from './serve-routes.ts';

const limitBytes = 1000;
const options = { types: ['application/json', 'application/fhir+json'], limitBytes };

const start = () =>
  serveRoutes((route) => [
    route('/json', {
      POST: async (exchange) => sendJson(exchange.response, { read: await readJson(exchange, options) }),
    }),
    route('/form', {
      POST: async (exchange) =>
        sendJson(exchange.response, { read: [...(await readForm(exchange, limitBytes))] }),
    }),
  ]);

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

type Answer = { read?: unknown; errors?: { path: string; message: string; code: string }[] };
type Sent = {
  body: string | Uint8Array<ArrayBuffer>;
  type?: string;
  headers?: Record<string, string>;
  path?: string;
};

async function post({ body, type = 'application/json', headers = {}, path = '/json' }: Sent) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    body,
    headers: { 'Content-Type': type, ...headers },
  });
  const answer: Answer = JSON.parse(await response.text());
  return { response, status: response.status, ...answer };
}

const json = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));

describe('a JSON body', () => {
  it('is parsed as JSON, including Unicode text', async () => {
    const value = { name: 'Ó “Zoë” \u{20bb7}', list: [1, null, { deep: true }] };
    expect(await post({ body: JSON.stringify(value) })).toMatchObject({ status: 200, read: value });
  });

  it('may begin with a byte order mark', async () => {
    expect(await post({ body: '\ufeff{"a":1}' })).toMatchObject({ status: 200, read: { a: 1 } });
  });

  it.each([
    'application/json',
    'application/fhir+json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=utf8',
  ])('is accepted with the Content-Type %s', async (type) => {
    expect((await post({ body: '1', type })).status).toBe(200);
  });

  it.each([
    'text/plain',
    'application/xml',
    'application/jsonp',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
  ])('is refused with the Content-Type %s (415)', async (type) => {
    const { status, response } = await post({ body: '1', type });
    expect(status).toBe(415);
    expect(response.headers.get('accept-post')).toBe('application/json, application/fhir+json');
  });

  it('is refused with a Content-Encoding, because decompression could exceed the limit (415)', async () => {
    const body = new Uint8Array(gzipSync(json(100)));
    const { status, response } = await post({ body, headers: { 'Content-Encoding': 'gzip' } });
    expect([status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
  });

  it('is accepted with the Content-Encoding identity, in any case', async () => {
    expect((await post({ body: '1', headers: { 'Content-Encoding': 'Identity' } })).status).toBe(200);
  });

  it('is refused if it has more bytes than the limit (413)', async () => {
    expect((await post({ body: json(limitBytes) })).status).toBe(200);
    const { response } = await post({ body: json(limitBytes + 1) });
    expect([response.status, response.headers.get('connection')]).toEqual([413, 'close']);
  });

  const head = (...headers: string[]) =>
    ['POST /json HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');

  it.each([limitBytes + 1, 2 ** 31, 10 * 2 ** 30])(
    'is refused before it is read if its declared length is %i bytes (413)',
    async (length) => {
      // The test sends no part of the body, so it passes only if the server answers immediately.
      const answer = await exchange(server.port, head(`Content-Length: ${length}`));
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    },
  );

  it('is refused without 100 Continue if its length or its type is not allowed (413, 415)', async () => {
    const answer = await exchange(
      server.port,
      head('Expect: 100-continue', `Content-Length: ${limitBytes + 1}`),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    const wrongType = head('Expect: 100-continue', 'Content-Length: 5').replace(
      'application/json',
      'text/csv',
    );
    expect(await exchange(server.port, wrongType)).toMatch(/^HTTP\/1\.1 415 /);
  });

  it('is requested with 100 Continue if the headers are valid, and the connection stays open', async () => {
    const expecting = head('Expect: 100-continue', 'Content-Length: 1');
    const answer = await exchange(
      server.port,
      `${expecting}1${head('Content-Length: 1', 'Connection: close')}2`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('in chunks is not read beyond the limit, and the server closes the connection (413)', async () => {
    const chunk = Buffer.from(`10000\r\n${'1'.repeat(0x10000)}\r\n`);
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    let [sent, received] = [0, ''];
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await once(socket, 'connect');
    socket.write(head('Transfer-Encoding: chunked'));
    socket.write(chunk);
    // Waits for the answer, because a client that sends to a closed connection may lose the answer.
    await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed]);
    while (!socket.destroyed && sent < 400 * 2 ** 20) {
      sent += chunk.length;
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    }
    await closed;
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    // The client could send only as much as both sides buffer, not the whole 400 MiB.
    expect(sent).toBeLessThan(32 * 2 ** 20);
  });

  it('is not read if the answer is 404, and the connection is closed if the body has not arrived yet', async () => {
    const unread = head('Content-Length: 10737418240').replace('/json', '/nowhere');
    expect(await exchange(server.port, unread)).toMatch(/^HTTP\/1\.1 404 /);
    const short = `${head('Content-Length: 4').replace('/json', '/nowhere')}null`;
    const both = await exchange(server.port, `${short}${head('Content-Length: 1', 'Connection: close')}1`);
    expect(both.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('in chunks is refused if the chunks exceed the limit (413)', async () => {
    const head =
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunk = `1f4\r\n${'1'.repeat(500)}\r\n`;
    expect(await exchange(server.port, `${head}${chunk.repeat(3)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ['empty', 'structure', ''],
    ['not JSON', 'structure', '{"family": Whitfield}'],
    ['two documents', 'structure', '{} {}'],
    ['an object with a member twice', 'duplicate', '{"a":1,"b":{"a":2},"a":3}'],
    ['an object with a member twice in two spellings', 'duplicate', '{"a":1,"\\u0061":2}'],
    ['nested too deep', 'too-costly', '['.repeat(65) + ']'.repeat(65)],
    ['nested deep enough to overflow a stack', 'too-costly', '['.repeat(900)],
    ['not UTF-8', 'structure', Uint8Array.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', 'structure', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', 'structure', Uint8Array.from([0xff, 0xfe, 0x22, 0x00, 0x22, 0x00])],
  ])('is refused if it is %s (400, code %s)', async (_fault, code, body) => {
    const { status, errors } = await post({ body });
    const message = expect.stringMatching(/^The body /);
    expect([status, errors]).toEqual([400, [{ path: '', message, code }]]);
    expect(JSON.stringify(errors)).not.toContain('Whitfield');
  });

  it.each([
    [
      '{\n  "name": "Zoë",\n  "family": Whitfield\n}',
      'is not JSON: a value is required, at line 3, column 13',
    ],
    [
      '\ufeff{"\u{20bb7}": "Whitfield" "b"}',
      'is not JSON: a comma or the end of the object is required, at line 1, column 19',
    ],
    [
      '{"a": 1,\r\n"b": 2,\r\n}',
      'is not JSON: the name of a member is required, in double quotes, at line 3, column 1',
    ],
    [
      '{"a": "Whitfield',
      'is not JSON: the closing quotation mark of a text is missing, at line 1, column 17',
    ],
    ['{"a": 1,\n "a": 2}', 'names a member of an object twice, at line 2, column 5'],
  ])('is refused with the position of the error and what JSON requires there: %j', async (body, problem) => {
    const { status, errors } = await post({ body });
    expect([status, errors?.map(({ message }) => message)]).toEqual([400, [`The body ${problem}`]]);
  });

  it('is accepted with 64 levels of nesting', async () => {
    expect((await post({ body: '['.repeat(64) + ']'.repeat(64) })).status).toBe(200);
  });

  it('is not logged if it is not valid JSON', async () => {
    const own = await start();
    const body = '{"family": Whitfield}';
    await (
      await fetch(`${own.url}/json`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      })
    ).text();
    expect(JSON.stringify(await own.log())).not.toContain('Whitfield');
  });

  it('that ends early is logged as an error of the caller (400), not of the service', async () => {
    const own = await start();
    const head =
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    expect(await exchange(own.port, `${head}{"family":"Whit`, { thenEnd: true })).not.toMatch(/ 200 /);
    expect((await fetch(`${own.url}/json`, { method: 'POST' })).status).toBe(415);
    const log = await own.log();
    expect(log.filter(({ msg }) => msg === 'request answered')).toHaveLength(2);
    expect(log.filter(({ level }) => level === 50)).toEqual([]);
    expect(log).toContainEqual(expect.objectContaining({ level: 40, status: 400, code: 'invalid_request' }));
  });
});

describe('a form', () => {
  const type = 'application/x-www-form-urlencoded';

  it('is read as an ordered list of fields, including fields with the same name', async () => {
    const body = 'a=1&b=%C3%93+x&a=2&c[d]=3&e';
    expect(await post({ body, type, path: '/form' })).toMatchObject({
      status: 200,
      read: [
        ['a', '1'],
        ['b', 'Ó x'],
        ['a', '2'],
        ['c[d]', '3'],
        ['e', ''],
      ],
    });
  });

  it('is refused with more than 1,000 fields (400)', async () => {
    const own = await serveRoutes((route) => [
      route('/form', {
        POST: async (exchange) => sendJson(exchange.response, { read: (await readForm(exchange)).size }),
      }),
    ]);
    const send = (fields: number) =>
      fetch(`${own.url}/form`, {
        method: 'POST',
        body: 'a&'.repeat(fields),
        headers: { 'Content-Type': type },
      });
    expect(await (await send(999)).json()).toEqual({ read: 999 });
    expect((await send(1001)).status).toBe(400);
    await own.stop();
  });

  it('may be empty', async () => {
    expect(await post({ body: '', type, path: '/form' })).toMatchObject({ status: 200, read: [] });
  });

  it('is refused if it is JSON (415), too large (413) or not UTF-8 (400)', async () => {
    expect((await post({ body: '{}', path: '/form' })).status).toBe(415);
    expect((await post({ body: `a=${'x'.repeat(limitBytes)}`, type, path: '/form' })).status).toBe(413);
    expect((await post({ body: Uint8Array.from([0x61, 0x3d, 0xff]), type, path: '/form' })).status).toBe(400);
  });
});
