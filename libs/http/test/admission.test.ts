import { connect } from 'node:net';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAdmission } from '../src/admission.ts';
import { sendStatus } from '../src/answer.ts';
import { readJson } from '../src/body.ts';
import type { Admission } from '../src/call.ts';
import type { Exchange } from '../src/endpoint.ts';
import { ServiceError } from '../src/errors.ts';
import { createAdminApp, listen } from '../src/server.ts';
import { serveRoutes } from './serve-routes.ts';

const limit = 2;
/** The requests that the process works on, each with the function that ends it. */
let working: { readonly path: string; readonly end: () => void }[];
/** The number of requests that have reached the limit, whether they were admitted or not. */
let arrived: number;
let bodiesRead: number;
let audited: number;

async function hold({ request, response }: Exchange) {
  await new Promise<void>((end) => working.push({ path: request.url ?? '', end }));
  sendStatus(response, 204);
}

/** Serves endpoints whose requests wait for a place for `waitMs`. */
function serve(waitMs: number) {
  const admission = createAdmission({ limit, waitMs });
  const counted: Admission = {
    async enter(...request) {
      arrived += 1;
      const place = await admission.enter(...request);
      const countRead = <Result>(result: Result) => {
        bodiesRead += 1;
        return result;
      };
      return { ...place, yieldWhile: (slow) => place.yieldWhile(slow.then(countRead)) };
    },
  };
  const audit = () => {
    audited += 1;
    return undefined;
  };
  return serveRoutes(
    (route) => [
      route('/page', { GET: hold }, { audit }),
      route('/launch', { GET: hold }, { audit, isNewLaunch: true }),
      route('/refused', {
        GET() {
          throw new ServiceError({ code: 'not_found', message: 'Address not found' });
        },
      }),
      route('/form', {
        async POST(sent) {
          await readJson(sent, { types: ['application/json'], limitBytes: 100 });
          await hold(sent);
        },
      }),
    ],
    { admission: counted },
  );
}

const longWaitMs = 2 ** 31 - 1;
let server: Awaited<ReturnType<typeof serve>>;
/** The statuses of the answers, in the order in which they arrive. */
let statuses: number[];
beforeEach(() => {
  [working, arrived, bodiesRead, audited, statuses] = [[], 0, 0, 0, []];
});
afterEach(async () => {
  for (const { end } of working) end();
  await server.stop();
});

/** Sends a request, and waits until it has reached the limit. */
async function send(path: string, init: RequestInit = {}): Promise<void> {
  const before = arrived;
  fetch(server.url + path, init).then(
    ({ status }) => statuses.push(status),
    () => undefined,
  );
  await until(() => arrived > before);
}

async function fill(): Promise<void> {
  for (let sent = 0; sent < limit; sent += 1) await send('/page');
  await until(() => working.length === limit);
}

/** Ends the request that has worked longest, and returns the path of the request that gets its place. */
async function endOne(): Promise<string | undefined> {
  const before = working.length;
  working.shift()?.end();
  await until(() => working.length === before);
  return working.at(-1)?.path;
}

describe('a process that works on as many requests as it may', () => {
  it('answers another request 503 with Retry-After and without an event, and is still healthy', async () => {
    server = await serve(1);
    await fill();
    const admin = await listen(createAdminApp({}), { port: 0, host: '127.0.0.1' });
    const health = await fetch(`http://127.0.0.1:${admin.port}/healthz`);
    await admin.stop();
    const { status, headers } = await fetch(`${server.url}/launch`);
    expect([health.status, status, headers.get('retry-after'), audited]).toEqual([200, 503, '2', 0]);
    expect(working).toHaveLength(limit);
    const lines = server.lines.filter((line) => line.includes('The service is busy'));
    expect(lines).toEqual([expect.stringContaining('"code":"temporarily_unavailable"')]);
    expect(lines[0]).not.toContain('"err"');
  });

  it('works on the next request when one ends: on pages of open sessions before new launches', async () => {
    server = await serve(longWaitMs);
    await fill();
    for (const path of ['/launch?1', '/page?2', '/launch?3', '/page?4']) await send(path);
    const paths = [await endOne(), await endOne(), await endOne(), await endOne()];
    expect(paths).toEqual(['/page?2', '/page?4', '/launch?1', '/launch?3']);
    expect(working).toHaveLength(limit);
  });

  it('gives no place to a caller who has disconnected', async () => {
    server = await serve(longWaitMs);
    await fill();
    const abort = new AbortController();
    await send('/page?gone', { signal: abort.signal });
    await send('/page?waiting');
    abort.abort();
    await until(() => server.lines.some((line) => line.includes('The service is busy')));
    expect(await endOne()).toBe('/page?waiting');
  });

  it('works on others while bodies arrive, and then on the requests with these bodies first', async () => {
    server = await serve(longWaitMs);
    const head =
      'POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{';
    const sockets = Array.from({ length: limit }, () => connect(server.port, '127.0.0.1'));
    for (const socket of sockets) socket.write(head);
    await until(() => arrived === limit);
    await fill();
    await send('/page?waiting');
    sockets[0]?.write('}');
    await until(() => bodiesRead === 1);
    expect([await endOne(), await endOne()]).toEqual(['/form', '/page?waiting']);
    for (const socket of sockets) socket.destroy();
  });

  it('keeps no place for a refused request', async () => {
    server = await serve(1);
    for (let sent = 0; sent <= limit; sent += 1) await send('/refused');
    await until(() => statuses.length > limit);
    expect(statuses).toEqual(Array.from({ length: limit + 1 }, () => 404));
  });
});
