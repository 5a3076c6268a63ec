import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { networkOf } from '@clinical-launch/http/call';
import { type Handler, type RefusalAudit, textParameter } from '@clinical-launch/http/endpoint';
import { oauthDialect, ServiceError } from '@clinical-launch/http/errors';
import { InMemoryLimits } from '@clinical-launch/limits/in-memory-limits';
import type { Limits } from '@clinical-launch/limits/limits';
import { RedisUnavailable } from '@clinical-launch/redis/redis-scripts';
import { until } from '@clinical-launch/testing/until';
import { afterEach, describe, expect, it } from '@jest/globals';
import { serveRoutes } from '../../http/test/serve-routes.ts';

const audit: RefusalAudit = ({ status, code }, { call }) =>
  call.event('launch.token.refused.v1', { status, reason: code });

const refuse = (status: number) => {
  throw new ServiceError({
    status,
    code: status === 410 ? 'token_used' : 'token_unknown',
    message: 'Refused',
  });
};

const createRoutes: Parameters<typeof serveRoutes>[0] = (route) => {
  const get = (path: string, handle: Handler) =>
    route(path, { GET: handle }, { dialect: oauthDialect, audit });
  return [
    get('/ok', ({ response }) => void response.end()),
    get('/anonymous/:status', (exchange) => refuse(Number(textParameter(exchange, 'status')))),
    get('/client', ({ call }) => {
      call.identify('client of a test');
      refuse(400);
    }),
    get('/launch', ({ call }) => {
      call.adopt('d3b07384-d9a0-4c9b-8f2e-000000000001');
      refuse(410);
    }),
  ];
};

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const limit = { refusals: 5, windowSeconds: 10 };

async function serve({ limits: given }: { limits?: Pick<Limits, 'refuse'> } = {}) {
  const kept: CloudEvent[] = [];
  let calls = 0;
  let now = () => 0;
  const outbox = { append: async (events: readonly CloudEvent[]) => void kept.push(...events) };
  const counting = new InMemoryLimits({ clock: { now: () => now() }, outbox });
  const limits = given ?? {
    refuse: (...refusal: Parameters<Limits['refuse']>) => {
      calls += 1;
      return counting.refuse(...refusal);
    },
  };
  const served = await serveRoutes(createRoutes, { limits, limit, trustedProxies: 1 });
  now = () => served.clock.now();
  endings.push(() => served.stop());
  const get = async (path: string) => {
    const response = await fetch(`${served.url}${path}`);
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  };
  const getTimes = async (times: number, path: string) => {
    const answers = await Promise.all(Array.from({ length: times }, () => get(path)));
    return answers.map(({ status }) => status).toSorted((one, other) => one - other);
  };
  return { ...served, kept, calls: () => calls, get, getTimes };
}

const countsOf = (events: readonly CloudEvent[]) =>
  events
    .map(({ data }) => ({ status: undefined, count: undefined, ...data }))
    .map(({ status, count }) => [status, count]);

describe('the refusals of one address', () => {
  it('beyond the limit are answered 429 with Retry-After, and produce no event', async () => {
    const { getTimes, get, kept, clock } = await serve();
    expect(await getTimes(5, '/anonymous/401')).toEqual([401, 401, 401, 401, 401]);
    clock.advance({ seconds: 3 });
    expect(await get('/anonymous/401')).toEqual({ status: 429, retryAfter: '7' });
    expect(await get('/anonymous/404')).toEqual({ status: 429, retryAfter: '7' });
    expect(await get('/nothing/here')).toEqual({ status: 429, retryAfter: '7' });
    expect(kept).toHaveLength(1);
    clock.advance({ seconds: 7 });
    expect((await get('/anonymous/401')).status).toBe(401);
  });

  it('are counted together with the refusals of the same IPv6 /64 network', async () => {
    const { url } = await serve();
    const get = async (address: string) =>
      (await fetch(`${url}/anonymous/401`, { headers: { 'X-Forwarded-For': address } })).status;
    for (let host = 1; host <= 5; host += 1) expect(await get(`2001:db8:1:2::${host}`)).toBe(401);
    expect(await get('2001:db8:1:2::6')).toBe(429);
    expect(await get('2001:db8:1:3::6')).toBe(401);
  });

  it('do not limit accepted requests from the same address', async () => {
    const { getTimes, get } = await serve();
    await getTimes(50, '/anonymous/401');
    expect(new Set(await getTimes(500, '/ok'))).toEqual(new Set([200]));
    expect((await get('/anonymous/401')).status).toBe(429);
  });

  it('do not include refusals of an authenticated client, each of which produces an event', async () => {
    const { getTimes, get, kept } = await serve();
    expect(new Set(await getTimes(20, '/client'))).toEqual(new Set([400]));
    expect(kept).toHaveLength(20);
    await getTimes(20, '/anonymous/401');
    expect((await get('/client')).status).toBe(400);
  });

  it('include refusals of a known launch, each of which produces an event within the limit', async () => {
    const { getTimes, kept } = await serve();
    expect(await getTimes(7, '/launch')).toEqual([410, 410, 410, 410, 410, 429, 429]);
    expect(kept.map(({ data }) => data)).toEqual(
      Array.from({ length: 5 }, () => ({ address: '127.0.0.1', status: 410, reason: 'token_used' })),
    );
  });

  it('do not include server errors', async () => {
    const { getTimes } = await serve();
    expect(new Set(await getTimes(20, '/anonymous/503'))).toEqual(new Set([503]));
  });

  it('need no round trip to Redis when the address has exceeded its limit', async () => {
    const { getTimes, calls } = await serve();
    await getTimes(6, '/anonymous/401');
    const before = calls();
    await getTimes(100, '/anonymous/401');
    expect(calls()).toBe(before);
  });

  it('are counted and limited by each process alone while Redis is unavailable', async () => {
    const refuse = () => Promise.reject(new RedisUnavailable('Redis does not answer'));
    const { getTimes } = await serve({ limits: { refuse } });
    expect(await getTimes(7, '/anonymous/401')).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  it('are limited if other replicas have counted too many refusals', async () => {
    const { get } = await serve({ limits: { refuse: async () => ({ overForMs: 4100, dropped: 0 }) } });
    expect(await get('/anonymous/401')).toEqual({ status: 429, retryAfter: '5' });
  });
});

describe('anonymous refusals', () => {
  it('produce one event immediately, and after an interval one event with the number of later refusals', async () => {
    const { getTimes, get, kept, clock, refusals } = await serve();
    await get('/anonymous/401');
    expect(countsOf(kept)).toEqual([[401, 1]]);
    expect(kept[0]?.data).toEqual({ status: 401, reason: 'token_unknown', address: '127.0.0.1', count: 1 });
    await getTimes(3, '/anonymous/401');
    await get('/anonymous/403');
    expect(countsOf(kept)).toEqual([
      [401, 1],
      [403, 1],
    ]);
    clock.advance({ seconds: 10 });
    await until(() => kept.length === 3);
    expect(countsOf(kept).at(-1)).toEqual([401, 3]);
    await getTimes(2, '/anonymous/401');
    expect(kept).toHaveLength(3);
    await refusals.stop();
    expect(countsOf(kept).at(-1)).toEqual([401, 2]);
  });

  it('produce events, each with the correlation id of the first request that it counts', async () => {
    const { url, kept, refusals } = await serve();
    const ids: (string | null)[] = [];
    for (let request = 0; request < 3; request += 1) {
      ids.push((await fetch(`${url}/anonymous/401`)).headers.get('x-correlation-id'));
    }
    await refusals.stop();
    expect(kept.map(({ correlationid }) => correlationid)).toEqual(ids.slice(0, 2));
  });
});

describe('the address of a caller', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('%s is counted under %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
