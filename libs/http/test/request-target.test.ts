import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sendJson } from '../src/answer.ts';
import { authorizationOf, queryOf } from '../src/request-target.ts';
import { exchange, serveRoutes } from './serve-routes.ts';

const start = () =>
  serveRoutes((route) => [
    route('/query', { GET: ({ request, response }) => sendJson(response, [...queryOf(request)]) }),
    route('/authorization', {
      GET: ({ request, response }) => sendJson(response, authorizationOf(request) ?? null),
    }),
  ]);

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

const get = (target: string, ...headers: string[]) =>
  exchange(
    server.port,
    [`GET ${target} HTTP/1.1`, 'Host: x', ...headers, 'Connection: close', '', ''].join('\r\n'),
  );

describe('the Authorization header of a request', () => {
  it('is absent if it is empty', async () => {
    expect(await get('/authorization', 'Authorization: ')).toContain('\r\n\r\nnull');
  });
});

describe('the query of a request', () => {
  it.each([
    ['/query?a=1&b=%C3%93&a=2?3', '[["a","1"],["b","Ó"],["a","2?3"]]'],
    ['/query', '[]'],
    ['/query?', '[]'],
    ['http://a:99999/query?a=1', '[["a","1"]]'],
    ['http://a:99999/query?a=http://[', '[["a","http://["]]'],
    ['/query?a=%ff%', '[["a","\uFFFD%"]]'],
  ])('is the text after the first question mark, or empty: %s', async (target, query) => {
    const answer = await get(target);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(Buffer.from(answer, 'latin1').toString('utf8')).toContain(`\r\n\r\n${query}`);
  });

  it('is read from any request target without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), (url) => {
        expect(queryOf({ url })).toBeInstanceOf(URLSearchParams);
      }),
    );
  });

  it.each([
    'http://[/query?a=1',
    'http://a:b:c/query',
    'http://a^b/query',
    'http:///query',
    '//[/query',
    '*',
  ])('causes no 5xx answer if the request target is %s', async (target) => {
    expect(await get(target)).toMatch(/^HTTP\/1\.1 [24]/);
  });
});

describe('the Authorization header', () => {
  it('may occur once or not at all', async () => {
    expect(await get('/authorization', 'authorization: Bearer a')).toContain('"Bearer a"');
    expect(await get('/authorization')).toContain('\r\n\r\nnull');
  });

  it('is refused if it occurs twice, because a proxy may have checked a different value (400)', async () => {
    for (const second of ['Authorization: Bearer b', 'AUTHORIZATION: Bearer a', 'authorization:']) {
      const answer = await get('/authorization', 'Authorization: Bearer a', second);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).not.toContain('Bearer');
    }
  });
});
