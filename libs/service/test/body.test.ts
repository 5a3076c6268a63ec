import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readForm, readJson } from '../src/index.ts';
import { exchange, serveRoutes } from './serve-routes.ts';

const limitBytes = 1000;
const options = { types: ['application/json', 'application/fhir+json'], limitBytes };

const start = () =>
  serveRoutes((router) => {
    router.post('/json', async (request, response) => {
      response.json({ read: await readJson(request, response, options) });
    });
    router.post('/form', async (request, response) => {
      response.json({ read: [...(await readForm(request, response, limitBytes))] });
    });
  });

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

type Answer = { read?: unknown; errors?: { path: string; message: string }[] };
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
  it('is read as it was written', async () => {
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
  ])('is taken as %s', async (type) => {
    expect((await post({ body: '1', type })).status).toBe(200);
  });

  it.each([
    'text/plain',
    'application/xml',
    'application/jsonp',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
  ])('is refused as %s (415)', async (type) => {
    expect((await post({ body: '1', type })).status).toBe(415);
  });

  it('is refused with a Content-Encoding, behind which any size could hide (415)', async () => {
    const body = new Uint8Array(gzipSync(json(100)));
    expect((await post({ body, headers: { 'Content-Encoding': 'gzip' } })).status).toBe(415);
  });

  it('may have as many bytes as the limit, and not one more (413)', async () => {
    expect((await post({ body: json(limitBytes) })).status).toBe(200);
    const { response } = await post({ body: json(limitBytes + 1) });
    expect([response.status, response.headers.get('connection')]).toEqual([413, 'close']);
  });

  it('is counted also when its length is not told before (413)', async () => {
    const head =
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunk = `1f4\r\n${'1'.repeat(500)}\r\n`;
    expect(await exchange(server.port, `${head}${chunk.repeat(3)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ['empty', ''],
    ['not JSON', '{"family": Whitfield}'],
    ['two documents', '{} {}'],
    ['a member twice', '{"a":1,"b":{"a":2},"a":3}'],
    ['a member twice in two spellings', '{"a":1,"\\u0061":2}'],
    ['nested too deep', '['.repeat(65) + ']'.repeat(65)],
    ['nested deep enough to overflow a stack', '['.repeat(900)],
    ['not UTF-8', Uint8Array.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Uint8Array.from([0xff, 0xfe, 0x22, 0x00, 0x22, 0x00])],
  ])('is refused when it is %s (400)', async (_fault, body) => {
    const { status, errors } = await post({ body });
    expect([status, errors]).toEqual([400, [{ path: '', message: expect.stringMatching(/^The body /) }]]);
    expect(JSON.stringify(errors)).not.toContain('Whitfield');
  });

  it('is read to 64 levels', async () => {
    expect((await post({ body: '['.repeat(64) + ']'.repeat(64) })).status).toBe(200);
  });

  it('leaves nothing of a body that cannot be read in the log', async () => {
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

  it('that ends before it was complete is no failure of the service, and is not answered 200', async () => {
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

  it('is the list of its fields, in order, repeated names included', async () => {
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

  it('may be empty', async () => {
    expect(await post({ body: '', type, path: '/form' })).toMatchObject({ status: 200, read: [] });
  });

  it('is refused as JSON (415), when it is too large (413) and when it is not UTF-8 (400)', async () => {
    expect((await post({ body: '{}', path: '/form' })).status).toBe(415);
    expect((await post({ body: `a=${'x'.repeat(limitBytes)}`, type, path: '/form' })).status).toBe(413);
    expect((await post({ body: Uint8Array.from([0x61, 0x3d, 0xff]), type, path: '/form' })).status).toBe(400);
  });
});
