import { once } from 'node:events';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { type RedisServer } from '@clinical-launch/testing/redis/redis-server';
import { aPrefix, createTickets, issueTicket, redeemTicket } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { connectRedis } from '../src/connect-redis.ts';
import { assertSafeRedis, UnsafeRedis } from '../src/redis-info.ts';
import { type RedisClient, RedisUnavailable } from '../src/redis-scripts.ts';

function aLogger() {
  const lines: { level: string; fields: object; message: string }[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message });
  return { lines, info: log('info'), warn: log('warn') };
}

describe('connectRedis', () => {
  const lab = createRedisLab();
  afterAll(() => lab.stop());

  it.each(['', 'http://host', 'redis://', 'redis://:s3cret@host:port', 'redis://host/one', 'redis://a,b'])(
    'refuses the address %j without repeating it in the error',
    async (url) => {
      const refusal = connectRedis(url);
      await expect(refusal).rejects.toThrow(TypeError);
      await expect(refusal).rejects.toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
      );
    },
  );

  it.concurrent('reports the cause if Redis is not ready in time', async () => {
    const server = await lab.server();
    await server.kill();
    await expect(connectRedis(server.url, { readyWithinMs: 3000 })).rejects.toMatchObject({
      message: 'Redis was not ready within 3000 ms',
      cause: expect.objectContaining({ code: 'ECONNREFUSED' }),
    });
  });

  it.concurrent('waits for Redis to start, authenticates, and selects the database', async () => {
    const server = await lab.server('--requirepass', 'p@ss,word');
    await server.kill();
    const connecting = lab.client(`${server.url.replace('//', '//:p%40ss%2Cword@')}/3`);
    await server.restart();
    const redis = await connecting;
    await redis.set('a', '1');
    expect(await redis.info('keyspace')).toContain('db3:keys=1');
  });

  it.concurrent('discovers a cluster from one address with ?cluster=true', async () => {
    const cluster = await lab.cluster();
    const redis = await lab.client(`${cluster.url.split(',')[0]}?cluster=true`);
    if (!(redis instanceof Cluster)) throw new Error('no cluster');
    expect(redis.nodes('master')).toHaveLength(3);
    const tickets = createTickets(redis, aPrefix());
    // Issues enough tickets to use every shard, and therefore every node.
    await Promise.all(Array.from({ length: 200 }, () => issueTicket(tickets)));
  });

  it.concurrent('follows the primary reported by Sentinels, and no ticket works twice after a failover', async () => {
    const sentinel = await lab.sentinel();
    const redis = await lab.client(sentinel.url);
    const tickets = createTickets(redis, aPrefix(), { failoverGuardSeconds: 60 });
    const [used, unused] = [await issueTicket(tickets), await issueTicket(tickets)];
    expect(await redeemTicket(tickets, used)).toMatchObject({ outcome: 'redeemed' });
    await redis.wait(1, 10_000);
    await sentinel.failOver();
    let lastError: unknown;
    const isIssued = () =>
      issueTicket(tickets).then(
        () => true,
        (error) => {
          lastError = error;
          return false;
        },
      );
    await until(isIssued, () => `${redis.status}: ${String((lastError as Error).cause ?? lastError)}`);
    expect(await redeemTicket(tickets, used)).toMatchObject({ outcome: 'used' });
    // The new primary may not know that a ticket was used, so it redeems no ticket from before its promotion.
    await expect(redeemTicket(tickets, unused)).rejects.toThrow(RedisUnavailable);
    const fresh = await issueTicket(tickets);
    expect(await redeemTicket(tickets, fresh)).toMatchObject({ outcome: 'redeemed' });
  });

  it.concurrent('redeems no ticket twice after a failover by hand under load that lost the last redemptions', async () => {
    const sentinel = await lab.sentinel();
    const redis = await lab.client(sentinel.url);
    const prefix = aPrefix();
    // As long as the tickets of the tests live, so that a slow machine cannot outlast it.
    const guard = { failoverGuardSeconds: 60 };
    const tickets = createTickets(redis, prefix, guard);
    const issued = await Promise.all(Array.from({ length: 50 }, () => issueTicket(tickets)));
    await redis.wait(1, 10_000);
    await sentinel.cutOff();
    const outcomeOf = (ticket: (typeof issued)[number], at = tickets) =>
      redeemTicket(at, ticket).then(
        ({ outcome }) => outcome,
        (error: unknown) => {
          if (error instanceof RedisUnavailable) return 'unavailable';
          throw error;
        },
      );
    const outcomes = await Promise.all(issued.map((ticket) => outcomeOf(ticket)));
    const promoted = new AbortController();
    const [address] = await Promise.all([
      sentinel.promote().finally(() => promoted.abort()),
      (async () => {
        while (!promoted.signal.aborted)
          await issueTicket(tickets).then(
            (ticket) => outcomeOf(ticket),
            () => undefined,
          );
      })(),
    ]);
    expect(outcomes).toEqual(issued.map(() => 'redeemed'));
    // The new primary has the tickets, but none of their redemptions.
    const after = createTickets(await lab.client(address), prefix, guard);
    const again = await Promise.all(issued.map((ticket) => outcomeOf(ticket, after)));
    expect(again).toEqual(issued.map(() => 'unavailable'));
    expect(await outcomeOf(await issueTicket(after), after)).toBe('redeemed');
  });

  it.concurrent('waits for a new connection if a failover ended the current connection, even if its status is still ready', async () => {
    const server = await lab.server();
    const redis = await lab.client(server.url);
    const tickets = createTickets(redis, aPrefix());
    const ticket = await issueTicket(tickets);
    if (!(redis instanceof Redis)) throw new Error('a cluster');
    // Disconnects as the failover detector does.
    redis.disconnect(true);
    expect(redis.status).toBe('ready');
    expect(await redeemTicket(tickets, ticket)).toMatchObject({ outcome: 'redeemed' });
  });

  it.concurrent('reconnects if a failover happens while the address is being resolved', async () => {
    const sentinel = await lab.sentinel();
    const redis = await lab.client(sentinel.url);
    const tickets = createTickets(redis, aPrefix());
    if (!(redis instanceof Redis)) throw new Error('a cluster');
    const connecting = once(redis, 'connecting');
    redis.disconnect(true);
    await connecting;
    // Disconnects as the failover detector does.
    (Reflect.get(redis, 'connector') as { disconnect(): void }).disconnect();
    // `once` of node:events would reject at the error that is emitted first.
    await new Promise((resolve) => redis.once('end', resolve));
    await until(() => redis.status === 'ready');
    expect(await redeemTicket(tickets, await issueTicket(tickets))).toMatchObject({ outcome: 'redeemed' });
  });

  it.concurrent('refuses requests while Redis is unavailable, logs this once, and recovers', async () => {
    const logger = aLogger();
    const server = await lab.server();
    const redis = await lab.client(server.url, { logger });
    const tickets = createTickets(redis, aPrefix());
    await server.kill();
    await expect(issueTicket(tickets)).rejects.toThrow(RedisUnavailable);
    await expect(issueTicket(tickets)).rejects.toThrow(RedisUnavailable);
    await server.restart();
    await until(async () =>
      issueTicket(tickets).then(
        () => true,
        () => false,
      ),
    );
    expect(logger.lines.map(({ message }) => message)).toEqual([
      'Redis is ready',
      'Redis is unavailable',
      'Redis is ready',
    ]);
  });

  it.concurrent('times out if Redis hangs', async () => {
    const server = await lab.server();
    const redis = await lab.client(server.url);
    const other = new Redis(server.port);
    lab.onStop(() => other.disconnect());
    await other.call('CLIENT', 'PAUSE', 60_000);
    await expect(issueTicket(createTickets(redis, aPrefix()))).rejects.toMatchObject({
      name: 'RedisUnavailable',
      cause: expect.objectContaining({ message: 'Command timed out' }),
    });
  });
});

describe('assertSafeRedis', () => {
  const lab = createRedisLab();
  let server: RedisServer;
  let redis: RedisClient;
  beforeAll(async () => {
    server = await lab.server();
    redis = await lab.client(server.url);
  });
  afterAll(() => lab.stop());

  const accepted = { isProduction: true, acceptsSharedUser: true };

  it('accepts a Redis without eviction and with persistence', async () => {
    await expect(assertSafeRedis(redis, accepted)).resolves.toBeUndefined();
  });

  it('refuses a shared user in production, or only warns if the operator accepts shared users', async () => {
    const problems = [
      `127.0.0.1:${server.port}: this user may read the keys of other services. Give each service its own user, unless REDIS_SERVICE_USERS is optional`,
    ];
    await expect(assertSafeRedis(redis, { isProduction: true })).rejects.toMatchObject({ problems });
    const logger = aLogger();
    await assertSafeRedis(redis, { ...accepted, logger });
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { problems }, message: 'this Redis does not separate the services' },
    ]);
  });

  it('refuses a user with rights on all keys of the platform', async () => {
    await redis.acl('SETUSER', 'everything', 'on', '>password', '+@all', '-@dangerous', '+info', '~own:*');
    const user = await lab.client(server.url.replace('//', '//everything:password@'));
    const options = { isProduction: true, prefix: 'own:' };
    await expect(assertSafeRedis(user, options)).rejects.toThrow('keys of other services');
    await expect(assertSafeRedis(user, { ...options, prefix: 'other:' })).resolves.toBeUndefined();
  });

  it('reports every problem at once in production, and only warns elsewhere', async () => {
    await redis.config('SET', 'maxmemory-policy', 'volatile-ttl', 'appendonly', 'no');
    const name = `127.0.0.1:${server.port}`;
    const problems = [
      `${name}: maxmemory-policy must be noeviction but is volatile-ttl`,
      `${name}: appendonly must be yes, unless REDIS_APPEND_ONLY_FILE is optional`,
    ];
    const refusal = assertSafeRedis(redis, accepted);
    await expect(refusal).rejects.toThrow(UnsafeRedis);
    await expect(refusal).rejects.toMatchObject({ problems });
    const logger = aLogger();
    await assertSafeRedis(redis, { isProduction: false, logger });
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { problems } }]);
  });

  it('accepts a Redis without persistence in production only if the operator accepts the risk, and warns', async () => {
    await redis.config('SET', 'maxmemory-policy', 'noeviction', 'appendonly', 'no');
    await expect(assertSafeRedis(redis, accepted)).rejects.toThrow(UnsafeRedis);
    const logger = aLogger();
    await assertSafeRedis(redis, { ...accepted, acceptsVolatile: true, logger });
    expect(logger.lines.map(({ message }) => message)).toContain('a restart of this Redis loses data');
    await redis.config('SET', 'maxmemory-policy', 'volatile-ttl');
    await expect(assertSafeRedis(redis, { ...accepted, acceptsVolatile: true })).rejects.toMatchObject({
      problems: [expect.stringContaining('maxmemory-policy must be noeviction')],
    });
  });
});
