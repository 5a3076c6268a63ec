import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { flood, type RunningEdge, startEdge, startEdgeBefore } from './running-edge.ts';

const launchToken = '0'.repeat(45);
const guid = '4f9f3b0e-0000-4000-8000-000000000000';

describe('an address with too many refusals', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge({ REFUSALS_PER_ADDRESS: '1' });
    await flood(edge);
  });
  afterAll(() => edge.stop());

  it.each([
    ['/AccessApi/RequestLaunchUrl'],
    ['/developers/api/vendor/AccessApi/RequestLaunchUrl'],
    ['/resource/patient'],
    ['/idp/demo/desktop/v2.0/Patient/guessed'],
    ['/idp/demo/desktop/v2.0/Patient?_id=guessed'],
    [`/oltr/${guid}/`],
    [`/orders/${guid}/notepad`],
    ['/secureLaunch'],
    ['/secureLaunch?launchToken=guessed&codeVerifier=guessed'],
  ])('receives 429 with Retry-After for a request that would be refused anyway: %s', async (path) => {
    const response = await fetch(edge.url + path);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '10']);
    expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['a request with a token', '/AccessApi/RequestLaunchUrl', { Authorization: 'Bearer a.b.c' }],
    [
      'a request of a sandbox client with a token',
      '/developers/api/vendor/AccessApi/RequestLaunchUrl',
      { Authorization: 'Bearer a.b.c' },
    ],
    ['a launch', `/secureLaunch?launchToken=${launchToken}&codeVerifier=x`, {}],
    ['a page of a session', `/oltr/${guid}/`, { Cookie: 'launch-session=x' }],
    ['a page of a session over https', `/oltr/${guid}/`, { Cookie: '__Secure-launch-session=x' }],
    ['a token request', '/idp/demo/oauth2/v2.0/token', {}],
    ['an authorization request', '/idp/demo/desktop/oauth2/v2.0/authorize', {}],
    ['signing keys', '/idp/demo/discovery/v2.0/keys', {}],
    ['the accessibility statement', '/accessibility', {}],
    ['the developer portal', '/developers/', {}],
    ['assets', '/oltr/assets/app.css', {}],
    ['assets of an error page', '/orders/assets/page.css', {}],
    ['the description of the API', '/AccessApi/openapi.json', {}],
  ])('still reaches the services with a request that may be accepted: %s', async (_name, path, headers) => {
    expect((await fetch(edge.url + path, { headers })).status).toBe(200);
  });
});

it('the edge without a limit on refusals never answers 429', async () => {
  const edge = await startEdge({ REFUSALS_PER_ADDRESS: '0' });
  try {
    await flood(edge);
    expect((await fetch(`${edge.url}/resource/patient`)).status).toBe(200);
  } finally {
    await edge.stop();
  }
});

describe('the connections of an address', () => {
  /** Opens connections that stay open. Returns how many are answered. The edge closes the others unanswered. */
  async function answered(url: string, count: number): Promise<number> {
    const sockets = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    const isAnswered = await Promise.all(
      sockets.map((socket) => {
        socket.on('error', () => undefined).write('GET /oltr/assets/app.css HTTP/1.1\r\nHost: x\r\n\r\n');
        return new Promise<boolean>((resolve) => {
          socket.once('data', () => resolve(true)).once('close', () => resolve(false));
        });
      }),
    );
    for (const socket of sockets) socket.destroy();
    return isAnswered.filter(Boolean).length;
  }

  it.each([
    ['are closed above the limit', '40', {}, 40],
    ['are not limited by 0', '0', {}, 50],
    ['are not counted for a trusted proxy', '40', { EDGE_TRUSTED_PROXIES: '127.0.0.0/8' }, 50],
  ])('%s', async (_what, limit, trusted, kept) => {
    const edge = await startEdge({ CONNECTIONS_PER_ADDRESS: limit, ...trusted });
    try {
      expect(await answered(edge.url, 50)).toBe(kept);
    } finally {
      await edge.stop();
    }
  });
});

describe('a service that has as many requests as the edge sends it', () => {
  /** Runs the edge in front of a service that works on one request at a time, until the test ends it. */
  async function startBusy(queueTimeoutMs?: number) {
    const working: { readonly url: string; readonly end: () => void }[] = [];
    const service = createServer((request, response) => {
      if (request.url === '/readyz') return void response.end();
      working.push({ url: request.url ?? '', end: () => void response.end() });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo;
    const waits = queueTimeoutMs === undefined ? {} : { queueTimeoutMs };
    const edge = await startEdgeBefore({ port, serverRequests: 1, environment: {}, ...waits });
    const send = (path: string, init: RequestInit = {}) => fetch(`${edge.url}/idp/demo/${path}`, init);
    const sent = [send('oauth2/v2.0/revoke?held')];
    await until(() => working.length === 1);
    return {
      working,
      send,
      /** Sends a request, and waits until it is in the queue. */
      async queue(path: string, init: RequestInit = {}) {
        const before = await this.queued();
        sent.push(send(path, init));
        sent.at(-1)?.catch(() => undefined);
        await until(async () => (await this.queued()) > before);
      },
      async queued() {
        const metrics = await (await fetch(`http://127.0.0.1:${edge.admin}/metrics`)).text();
        const [, queued] =
          /haproxy_backend_current_queue\{proxy="identity-provider"\} (\d+)/.exec(metrics) ?? [];
        return Number(queued);
      },
      /** Ends the current request, and returns the path of the next one. */
      async next() {
        const before = working.length;
        working.at(-1)?.end();
        await until(() => working.length > before);
        return working.at(-1)?.url;
      },
      async stop() {
        service.closeAllConnections();
        await Promise.allSettled(sent);
        await edge.stop();
        await new Promise((resolve) => service.close(resolve));
      },
    };
  }

  it('receives requests of open sessions before new launches', async () => {
    const busy = await startBusy(600_000);
    try {
      for (const path of ['oauth2/v2.0/token', 'launches', 'oauth2/v2.0/revoke']) await busy.queue(path);
      expect([await busy.next(), await busy.next(), await busy.next()]).toEqual([
        '/demo/oauth2/v2.0/revoke',
        '/demo/oauth2/v2.0/token',
        '/demo/launches',
      ]);
    } finally {
      await busy.stop();
    }
  });

  it('does not receive a waiting request whose caller has disconnected', async () => {
    const busy = await startBusy(600_000);
    try {
      const abort = new AbortController();
      await busy.queue('oauth2/v2.0/revoke?gone', { signal: abort.signal });
      await busy.queue('oauth2/v2.0/revoke?next');
      abort.abort();
      await until(async () => (await busy.queued()) === 1);
      expect(await busy.next()).toBe('/demo/oauth2/v2.0/revoke?next');
    } finally {
      await busy.stop();
    }
  });

  it('leaves a request waiting until the edge answers 503 with Retry-After', async () => {
    const busy = await startBusy();
    try {
      const { status, headers } = await busy.send('oauth2/v2.0/token');
      expect([status, headers.get('retry-after'), busy.working.length]).toEqual([503, '1', 1]);
    } finally {
      await busy.stop();
    }
  });
});
