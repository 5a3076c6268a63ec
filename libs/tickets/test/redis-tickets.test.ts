import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { type RedisServer } from '@clinical-launch/testing/redis/redis-server';
import {
  anEvent,
  aPrefix,
  createTickets,
  issueTicket,
  redeemTicket,
} from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { redisUnderTest } from './redis-under-test.ts';
import { describeTickets } from './tickets-contract.ts';

describeTickets('Redis', async () => {
  const lab = createRedisLab();
  return redisUnderTest(await lab.anyClient(), () => lab.stop());
});

describe('RedisTickets', () => {
  const lab = createRedisLab();
  let server: RedisServer;
  let redis: RedisClient;
  beforeAll(async () => {
    server = await lab.server();
    redis = await lab.client(server.url);
  });
  afterAll(() => lab.stop());

  it('forgets a used ticket after the used-marker has expired', async () => {
    const tickets = createTickets(redis, aPrefix(), { usedMarkerSeconds: 2 });
    const ticket = await issueTicket(tickets);
    await redeemTicket(tickets, ticket);
    expect(await redeemTicket(tickets, ticket)).toMatchObject({ outcome: 'used' });
    await until(async () => (await redeemTicket(tickets, ticket)).outcome === 'unknown');
  });

  it('keeps the used-marker for 24 hours by default', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    await redeemTicket(tickets, await issueTicket(tickets));
    const [marker = '', ...others] = await redis.keys(`${prefix}*:used:*`);
    expect(others).toEqual([]);
    const leftMs = await redis.pttl(marker);
    expect(leftMs).toBeGreaterThan(86_300_000);
    expect(leftMs).toBeLessThanOrEqual(86_400_000);
  });

  it('stores ticket, claim, successor and events of a launch in the shard that the ticket names', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const claim = { name: 'pms 1', holder: 'OrderTest', ttlSeconds: 60 };
    const ticket = await issueTicket(tickets, { claim, events: [anEvent()] });
    const successor = { kind: 'launch-session' as const, ttlSeconds: 60 };
    const redemption = await redeemTicket(tickets, ticket, { successor });
    expect(redemption).toMatchObject({ successor: expect.stringMatching(`^${ticket.slice(0, 2)}`) });
    const keys = await redis.keys(`${prefix}*`);
    expect(keys.length).toBeGreaterThanOrEqual(6);
    for (const key of keys) expect(key.startsWith(`${prefix}{s${ticket.slice(0, 2)}}:`)).toBe(true);
  });

  it('sets an expiry on every key except the streams and their counters', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const claim = { name: 'pms 2', holder: 'OrderTest', ttlSeconds: 60 };
    const ticket = await issueTicket(tickets, { claim, events: [anEvent()] });
    await redeemTicket(tickets, ticket, { successor: { kind: 'launch-session', ttlSeconds: 60 } });
    await new RedisOutbox({ redis, prefix }).append([anEvent()]);
    for (const key of await redis.keys(`${prefix}*`)) {
      const isKept = /:(?:outbox|committed|history:launch|history:desktop)$/.test(key);
      expect({ key, expires: (await redis.pttl(key)) > 0 }).toEqual({ key, expires: !isKept });
    }
  });

  it('needs one round trip to issue, to redeem with a successor and to find a ticket', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const claim = (name: string) => ({ name, holder: 'OrderTest', ttlSeconds: 60 });
    const successor = { kind: 'launch-session' as const, ttlSeconds: 60, detail: 1 };
    const launch = async (name: string) => {
      const ticket = await issueTicket(tickets, { claim: claim(name), challenge: 'c', events: [anEvent()] });
      const redemption = await redeemTicket(tickets, ticket, {
        proofs: ['c'],
        successor,
        events: [anEvent()],
      });
      if (redemption.outcome !== 'redeemed' || redemption.successor === undefined)
        throw new Error('no session');
      expect(await tickets.find('launch-session', redemption.successor, { extendSeconds: 60 })).toBeDefined();
    };
    await launch('the first, which leaves the scripts on the server');

    const watcher = await lab.client(server.url);
    if (!('monitor' in watcher)) throw new Error('A single Redis was expected, not a cluster');
    const monitor = await watcher.monitor();
    lab.onStop(() => monitor.disconnect());
    const asked: string[] = [];
    monitor.on('monitor', (_time: string, [command = '', text]: string[], source: string) => {
      if (source !== 'lua') asked.push(command === 'echo' ? `echo ${text}` : command);
    });
    await launch('the one that is counted');
    await redis.echo('end');
    await until(async () => asked.includes('echo end'));
    expect(asked).toEqual(['evalsha', 'evalsha', 'evalsha', 'echo end']);
  });

  it('redeems a ticket once for 1,000 requests over eight connections, and appends one event', async () => {
    const prefix = aPrefix();
    const clients = await Promise.all(Array.from({ length: 8 }, () => lab.client(server.url)));
    const ticket = await issueTicket(createTickets(redis, prefix), { challenge: 'c' });
    const redemptions = await Promise.all(
      clients.flatMap((client) => {
        const tickets = createTickets(client, prefix);
        return Array.from({ length: 125 }, () =>
          redeemTicket(tickets, ticket, { proofs: ['c'], events: [anEvent()] }),
        );
      }),
    );
    const counts = Map.groupBy(redemptions, ({ outcome }) => outcome);
    expect(counts.get('redeemed')).toHaveLength(1);
    expect(counts.get('used')).toHaveLength(999);
    expect(await new RedisOutbox({ redis, prefix }).committed()).toBe(1);
  });

  it('stores nothing if an event of the issue is invalid', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const faulty = { ...anEvent(), correlationid: 'no guid' };
    const claim = { name: 'pms 3', holder: 'OrderTest', ttlSeconds: 60 };
    await expect(issueTicket(tickets, { claim, events: [anEvent(), faulty] })).rejects.toThrow(TypeError);
    expect(await redis.keys(`${prefix}*`)).toEqual([]);
  });

  it('refuses a prefix that contains a hash tag', () => {
    expect(() => createTickets(redis, 'a{b}:')).toThrow(TypeError);
  });
});
