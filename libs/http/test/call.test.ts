import { guidForm } from '@clinical-launch/contracts/schema';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendJson, sendText } from '../src/answer.ts';
import type { Call } from '../src/call.ts';
import { serveRoutes } from './serve-routes.ts';

const originOf = ({ correlationId, traceparent }: Call) => ({ correlationId, traceparent });

const start = () =>
  serveRoutes((route) => [
    route('/origin', { GET: ({ response, call }) => sendJson(response, originOf(call)) }),
    route('/adopt', {
      GET({ response, call }) {
        call.adopt('d3b07384-d9a0-4c9b-8f2e-000000000001');
        sendJson(response, originOf(call));
      },
    }),
  ]);

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.stop());

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}${path}`, { headers });
  const text = await response.text();
  const origin: { correlationId?: string; traceparent?: string } = text === '' ? {} : JSON.parse(text);
  return { response, origin, header: response.headers.get('x-correlation-id') ?? '' };
}

describe('the correlation id', () => {
  it('is a new GUID for each request, and both the response and the events contain it', async () => {
    const [one, two] = [await get('/origin'), await get('/origin')];
    expect(one.header).toMatch(guidForm);
    expect(one.origin.correlationId).toBe(one.header);
    expect(two.header).not.toBe(one.header);
    expect((await get('/nowhere')).header).toMatch(guidForm);
  });

  it('is never accepted from the caller, who could choose the id of another request', async () => {
    const id = 'd3b07384-d9a0-4c9b-8f2e-000000000001';
    expect((await get('/origin', { 'X-Correlation-Id': id })).header).not.toBe(id);
  });

  it('is replaced by the correlation id of the launch when a handler finds the launch', async () => {
    const { header, origin } = await get('/adopt');
    expect(header).toBe('d3b07384-d9a0-4c9b-8f2e-000000000001');
    expect(origin.correlationId).toBe(header);
  });
});

describe('traceparent', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';

  it('keeps the trace id and flags of the caller, with a new span id', async () => {
    for (const flags of ['00', '01']) {
      const { origin } = await get('/origin', { traceparent: `00-${traceId}-${parent}-${flags}` });
      expect(origin.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-${flags}$`));
      expect(origin.traceparent).not.toContain(parent);
    }
  });

  it('is created if the request contains no traceparent', async () => {
    const [one, two] = [await get('/origin'), await get('/origin')];
    expect(one.origin.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(one.origin.traceparent).not.toBe(two.origin.traceparent);
    expect(one.origin.traceparent?.slice(3, 35)).toBe(one.header.replaceAll('-', ''));
  });

  it('gets the trace id of the launch, with a new span id, when a handler finds the launch', async () => {
    const [one, two] = [await get('/adopt'), await get('/adopt')];
    for (const { header, origin } of [one, two]) {
      expect(origin.traceparent?.slice(3, 35)).toBe(header.replaceAll('-', ''));
      expect(origin.traceparent).not.toContain(header.replaceAll('-', '').slice(16) + '-01');
    }
    expect(one.origin.traceparent).not.toBe(two.origin.traceparent);
  });

  it.each([
    ['nothing', ''],
    ['words', 'not a trace'],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${parent}-01`],
    ['a parent id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['capital letters', `00-${traceId.toUpperCase()}-${parent}-01`],
    ['the forbidden version', `ff-${traceId}-${parent}-01`],
    ['a valid value with a suffix', `00-${traceId}-${parent}-01-Whitfield`],
    ['two values', `00-${traceId}-${parent}-01, 00-${traceId}-${parent}-01`],
  ])('is replaced if it contains %s', async (_fault, traceparent) => {
    const { origin } = await get('/origin', { traceparent });
    expect(origin.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(origin.traceparent).not.toContain(traceId);
  });
});

describe('the address of a caller', () => {
  it.each([
    [0, '127.0.0.1', '192.0.2.1'],
    [1, '192.0.2.1', '192.0.2.1'],
    [2, '198.51.100.7', '192.0.2.1'],
    [1, '192.0.2.1', '192.0.2.1:50001'],
    [1, '2001:db8::1', '[2001:db8::1]:50001'],
    [1, '2001:db8::1', '[2001:db8::1]'],
    [1, '2001:db8::1', '2001:db8::1'],
  ])('behind %i trusted proxies is %s if the last is written %s', async (trustedProxies, address, last) => {
    const own = await serveRoutes(
      (route) => [
        route('/address', {
          GET: ({ response, call }) => sendText(response, 'text/plain', String(call.address)),
        }),
      ],
      { trustedProxies },
    );
    // Each proxy appends the address of its own caller. The caller may have forged all earlier addresses.
    const headers = { 'X-Forwarded-For': `10.0.0.1, 198.51.100.7, ${last}` };
    const response = await fetch(`${own.url}/address`, { headers });
    expect(await response.text()).toBe(address);
    await own.stop();
  });
});

describe('the log line of a request', () => {
  it('contains the correlation id, method, path without query, status and duration', async () => {
    const own = await start();
    const response = await fetch(`${own.url}/origin?codeVerifier=Whitfield`, { method: 'GET' });
    await response.text();
    const log = await own.log();
    expect(log).toEqual([
      expect.objectContaining({
        correlationId: response.headers.get('x-correlation-id'),
        method: 'GET',
        path: '/origin',
        status: 200,
        complete: true,
        durationMs: expect.any(Number),
      }),
    ]);
    expect(JSON.stringify(log)).not.toContain('Whitfield');
  });

  it('contains the route instead of the path, because callers could put patient data in a path', async () => {
    const own = await serveRoutes((route) => [
      route('/orders/:guid', { GET: ({ response }) => sendJson(response, {}) }),
    ]);
    const addresses = [
      '/orders/Whitfield-9434765919',
      // The question mark is encoded, so that the query is part of the path.
      '/secureLaunch%3FlaunchToken=Whitfield&codeVerifier=Whitfield',
      '/Whitfield',
      '/%E0%A4%A?Whitfield',
    ];
    for (const address of addresses) await (await fetch(own.url + address)).text();
    const log = await own.log();
    expect(log.filter(({ msg }) => msg === 'request answered').map(({ path }) => path)).toEqual([
      '/orders/:guid',
      'unknown',
      'unknown',
      'unknown',
    ]);
    expect(JSON.stringify(log)).not.toContain('Whitfield');
  });

  it('contains both the first correlation id of the request and the correlation id of its launch', async () => {
    const own = await start();
    const response = await fetch(`${own.url}/adopt`);
    await response.text();
    const launchId = response.headers.get('x-correlation-id');
    const [link, answered] = await own.log();
    expect(link).toMatchObject({ launchId, level: 20, msg: 'the request belongs to a launch' });
    expect(link?.['correlationId']).not.toBe(launchId);
    const beganAs = link?.['correlationId'];
    expect(answered).toMatchObject({ correlationId: launchId, beganAs, msg: 'request answered' });
  });
});
