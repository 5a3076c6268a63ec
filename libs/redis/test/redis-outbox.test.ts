import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent, RejectedEvent, WrittenEvent } from '@clinical-launch/contracts/events/cloud-event';
import { startRelay } from '@clinical-launch/events/relay';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import {
  anEvent,
  aPrefix,
  createTickets,
  drainAll,
  issueTicket,
  redeemTicket,
} from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisOutbox } from '../src/redis-outbox.ts';
import type { RedisClient } from '../src/redis-scripts.ts';

const idsOf = (events: readonly CloudEvent[]) => events.map(({ id }) => id).sort();

const eventsOf = (batch: readonly WrittenEvent[]) => batch.map(({ event }) => event);

const events = (count: number) => Array.from({ length: count }, () => anEvent());

describe('RedisOutbox', () => {
  const lab = createRedisLab();
  let redis: RedisClient;
  beforeAll(async () => {
    redis = await lab.anyClient();
  });
  afterAll(() => lab.stop());

  it('drains each appended event once, and is empty afterwards', async () => {
    const prefix = aPrefix();
    const outbox = new RedisOutbox({ redis, prefix });
    const appended = events(1000);
    for (const event of appended) await outbox.append([event]);
    expect(await outbox.depth()).toBe(1000);
    const batches: number[] = [];
    const sent: CloudEvent[] = [];
    const publish = async (batch: readonly WrittenEvent[]) => {
      batches.push(batch.length);
      sent.push(...eventsOf(batch));
    };
    while ((await outbox.drain(publish)) > 0);
    expect(idsOf(sent)).toEqual(idsOf(appended));
    expect(Math.max(...batches)).toBeLessThanOrEqual(256);
    expect(await outbox.depth()).toBe(0);
    expect(await outbox.committed()).toBe(1000);
    for (const key of await redis.keys(`${prefix}*:outbox`)) {
      expect(await redis.xpending(key, 'relay')).toEqual([0, null, null, null]);
    }
  });

  it('preserves the order of a launch’s events', async () => {
    const prefix = aPrefix();
    const [outbox, tickets] = [new RedisOutbox({ redis, prefix }), createTickets(redis, prefix)];
    const [issued, redeemed] = events(2);
    if (issued === undefined || redeemed === undefined) throw new Error('events(2) returned fewer events');
    const ticket = await issueTicket(tickets, { events: [issued], correlationId: issued.correlationid });
    await redeemTicket(tickets, ticket, { events: [redeemed] });
    expect(await drainAll(outbox)).toEqual([issued, { ...redeemed, correlationid: issued.correlationid }]);
  });

  it('refuses an append that contains an event with an invalid source, and stores none of its events', async () => {
    const outbox = new RedisOutbox({ redis, prefix: aPrefix() });
    await expect(outbox.append([anEvent(), { ...anEvent(), source: 'nowhere' }])).rejects.toThrow(TypeError);
    expect(await outbox.depth()).toBe(0);
    await outbox.append([]);
    expect(await outbox.committed()).toBe(0);
  });

  it('publishes events of a newer release with their unknown members', async () => {
    const prefix = aPrefix();
    const outbox = new RedisOutbox({ redis, prefix });
    const [own] = events(1);
    if (own === undefined) throw new Error('events(1) returned no event');
    const newer = { ...anEvent(), subject: 'newer', data: { newer: 'member' } };
    await expect(outbox.append([newer as unknown as CloudEvent])).rejects.toThrow(TypeError);
    await outbox.append([own]);
    const [stream = ''] = await redis.keys(`${prefix}*:outbox`);
    await redis.xadd(stream, '*', 'event', JSON.stringify(newer));
    expect(await drainAll(outbox)).toEqual([own, newer]);
  });

  it('sets aside invalid entries, reports them without their data, and publishes the valid entries', async () => {
    const prefix = aPrefix();
    const rejected: RejectedEvent[] = [];
    const outbox = new RedisOutbox({ redis, prefix, onRejected: (one) => void rejected.push(one) });
    const appended = events(3);
    await outbox.append(appended);
    const [stream = ''] = await redis.keys(`${prefix}*:outbox`);
    const unreadable = [
      'Whitfield',
      '{"type":"Whitfield"}',
      JSON.stringify({ ...anEvent(), source: 'Whitfield' }),
    ];
    for (const text of unreadable) await redis.xadd(stream, '*', 'event', text);
    await redis.xadd(stream, '*', 'Whitfield', 'no event');
    const later = events(3);
    await outbox.append(later);

    expect(idsOf(await drainAll(outbox))).toEqual(idsOf([...appended, ...later]));
    expect(await outbox.depth()).toBe(0);
    expect(rejected).toHaveLength(4);
    expect(JSON.stringify(rejected)).not.toContain('Whitfield');
    const aside = stream.replace(/outbox$/, 'rejected');
    const kept = await redis.xrange(aside, '-', '+');
    await redis.del(aside);
    expect(kept.map(([, fields]) => fields.slice(2))).toEqual([
      ...unreadable.map((text) => ['event', text]),
      ['Whitfield', 'no event'],
    ]);
  });

  it('lets any relay claim events again immediately if publishing failed', async () => {
    const prefix = aPrefix();
    const [outbox, other] = [new RedisOutbox({ redis, prefix }), new RedisOutbox({ redis, prefix })];
    const appended = events(600);
    await outbox.append(appended);
    let batches = 0;
    const sent: CloudEvent[] = [];
    const failSecond = async (batch: readonly WrittenEvent[]) => {
      batches += 1;
      if (batches === 2) throw new Error('the broker is down');
      sent.push(...eventsOf(batch));
    };
    for (const event of events(400)) await outbox.append([event]);
    await expect(outbox.drain(failSecond)).rejects.toThrow('the broker is down');
    sent.push(...(await drainAll(other)));
    expect(new Set(idsOf(sent)).size).toBe(1000);
    expect(sent).toHaveLength(1000);
    expect(await outbox.depth()).toBe(0);
  });

  it('claims the events of a dead relay, but not before the timeout', async () => {
    const prefix = aPrefix();
    const dead = new RedisOutbox({ redis, prefix });
    const patient = new RedisOutbox({ redis, prefix, takeOverAfterMs: 3_600_000 });
    const alive = new RedisOutbox({ redis, prefix, takeOverAfterMs: 500 });
    const appended = events(50);
    await dead.append(appended);
    const taken = Promise.withResolvers<void>();
    // Hangs while it publishes: the promise never settles.
    void dead.drain(() => {
      taken.resolve();
      return new Promise(() => undefined);
    });
    await taken.promise;
    const sent: CloudEvent[] = [];
    expect(await drainAll(patient)).toEqual([]);
    await until(async () => {
      sent.push(...(await drainAll(alive)));
      return sent.length > 0;
    });
    expect(idsOf(sent)).toEqual(idsOf(appended));
    expect(await alive.depth()).toBe(0);
  });

  it('loses no event and publishes none twice with four concurrent relays', async () => {
    const prefix = aPrefix();
    const sent: CloudEvent[] = [];
    const failures: unknown[] = [];
    const relays = Array.from({ length: 4 }, () =>
      startRelay({
        source: new RedisOutbox({ redis, prefix }),
        publish: async (batch) => {
          await delay(1);
          sent.push(...eventsOf(batch));
        },
        onFailure: (error) => failures.push(error),
        everyMs: 5,
      }),
    );
    const outbox = new RedisOutbox({ redis, prefix });
    const appended = events(3000);
    await Promise.all(appended.map((event) => outbox.append([event])));
    await until(async () => (await outbox.depth()) === 0);
    await Promise.all(relays.map((relay) => relay.stop()));
    expect(failures).toEqual([]);
    expect(idsOf(sent)).toEqual(idsOf(appended));
  });

  it('reports how long the oldest event has waited, by the clock of Redis', async () => {
    const outbox = new RedisOutbox({ redis, prefix: aPrefix() });
    expect(await outbox.oldestAgeMs()).toBe(0);
    await outbox.append([anEvent()]);
    await until(async () => (await outbox.oldestAgeMs()) > 100);
    await outbox.append([anEvent()]);
    expect(await outbox.oldestAgeMs()).toBeGreaterThan(100);
    await drainAll(outbox);
    expect(await outbox.oldestAgeMs()).toBe(0);
  });
});
