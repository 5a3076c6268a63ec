import { randomUUID } from 'node:crypto';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { anEvent, anIssue, aPrefix, drainAll, sealers } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisTickets } from '../src/redis-tickets.ts';
import { createTicketKeys } from '../src/ticket-keys.ts';
import type { TicketKind } from '../src/tickets.ts';

const lab = createRedisLab();
let redis: RedisClient;
beforeAll(async () => {
  redis = await lab.anyClient();
});
afterAll(() => lab.stop());

type LogLine = { readonly message: string; readonly [field: string]: unknown };

/**
 * Creates one ticket for each of two launches. The attacker holds the ticket of `mine` and can write to
 * Redis.
 */
async function twoSessions(kind: TicketKind = 'launch-session') {
  const prefix = aPrefix();
  const log: LogLine[] = [];
  const logger = { error: (fields: object, message: string) => void log.push({ message, ...fields }) };
  const tickets = new RedisTickets({ redis, sealers, prefix, logger });
  const session = async (name: string) => {
    const correlationId = randomUUID();
    const content = { context: { patient: name }, detail: { scope: name } };
    // Both tickets have the same claim and therefore the same shard, so that COPY works on a cluster.
    const claim = { name: 'one', holder: 'OrderTest', joins: ['OrderTest'], ttlSeconds: 60 };
    const issued = await tickets.issue(kind, anIssue({ correlationId, claim, ...content }));
    if (issued.outcome !== 'issued') throw new Error(issued.outcome);
    const { ticket } = issued;
    return { ticket, correlationId, key: createTicketKeys(prefix).ticket(ticket.slice(0, 2), kind, ticket) };
  };
  const [mine, victim] = [await session('mine'), await session('victim')];
  const copyField = async (name: string) =>
    redis.hset(mine.key, name, (await redis.hget(victim.key, name)) ?? '');
  return { prefix, tickets, log, mine, victim, copyField };
}

type Two = Awaited<ReturnType<typeof twoSessions>>;

const changes: [string, (two: Two) => Promise<unknown>][] = [
  ['has the sealed context of another launch', ({ copyField }) => copyField('context')],
  [
    'has the context and correlation id of another launch',
    ({ copyField }) => Promise.all(['context', 'correlationid'].map(copyField)),
  ],
  ['has the sealed detail of another ticket', ({ copyField }) => copyField('detail')],
  [
    'is a copy of the record of another launch',
    ({ mine, victim }) => redis.copy(victim.key, mine.key, 'REPLACE'),
  ],
  ['has another correlation id', ({ mine }) => redis.hset(mine.key, 'correlationid', randomUUID())],
  ['has no context', ({ mine }) => redis.hdel(mine.key, 'context')],
  ['has a context that is not sealed', ({ mine }) => redis.hset(mine.key, 'context', 'k1.AAAA')],
];

describe('a record altered by an attacker who can write to Redis', () => {
  it.each(changes)(
    'makes its session unknown, and is logged as an error, if it %s',
    async (_change, change) => {
      const two = await twoSessions();
      await change(two);
      expect(await two.tickets.find('launch-session', two.mine.ticket)).toBeUndefined();
      expect(two.log).toEqual([
        expect.objectContaining({ correlationId: two.mine.correlationId, kind: 'launch-session' }),
      ]);
      expect(JSON.stringify(two.log)).not.toContain('victim');
      const found = await two.tickets.find('launch-session', two.victim.ticket);
      expect(found).toMatchObject({ context: { patient: 'victim' }, detail: { scope: 'victim' } });
    },
  );

  it.each(changes)('makes its ticket unknown at the redemption if it %s', async (_change, change) => {
    const two = await twoSessions('launch-token');
    await change(two);
    const successor = { kind: 'launch-session', ttlSeconds: 60 } as const;
    const redemption = await two.tickets.redeem('launch-token', two.mine.ticket, { successor, events: [] });
    expect(redemption).toEqual({ outcome: 'unknown' });
  });

  it('is unknown if it was copied to another kind of ticket', async () => {
    const { prefix, tickets, mine } = await twoSessions('authorization-code');
    const asRefreshToken = createTicketKeys(prefix).ticket(
      mine.ticket.slice(0, 2),
      'refresh-token',
      mine.ticket,
    );
    await redis.copy(mine.key, asRefreshToken);
    expect(await tickets.find('refresh-token', mine.ticket)).toBeUndefined();
    expect(await tickets.find('authorization-code', mine.ticket)).toBeDefined();
  });
});

describe('a notice that was altered in Redis', () => {
  it('is ignored and logged as an error, as is a notice copied from another ticket', async () => {
    const prefix = aPrefix();
    const log: LogLine[] = [];
    const logger = { error: (fields: object, message: string) => void log.push({ message, ...fields }) };
    const tickets = new RedisTickets({ redis, sealers, prefix, logger });
    // Both tickets have the same claim and therefore the same shard, so that COPY works on a cluster.
    const claim = { name: 'one', holder: 'OrderTest', joins: ['OrderTest'], ttlSeconds: 60 };
    const issue = async (content: string) => {
      const notice = { content, ttlSeconds: 60 };
      const issued = await tickets.issue('launch-token', anIssue({ claim, notice }));
      if (issued.outcome !== 'issued') throw new Error(issued.outcome);
      const { ticket } = issued;
      await tickets.redeem('launch-token', ticket, { events: [] });
      return { ticket, key: createTicketKeys(prefix).notice(ticket.slice(0, 2), 'launch-token', ticket) };
    };
    const [mine, other] = [await issue('https://mine.example'), await issue('https://other.example')];
    const replay = () => tickets.redeem('launch-token', mine.ticket, { events: [] });
    expect(await replay()).toMatchObject({ outcome: 'used', notice: 'https://mine.example' });
    await redis.copy(other.key, mine.key, 'REPLACE');
    expect(await replay()).toEqual({ outcome: 'used', correlationId: expect.any(String) });
    await redis.set(mine.key, '"https://attacker.example"', 'PX', 60_000);
    expect(await replay()).toEqual({ outcome: 'used', correlationId: expect.any(String) });
    expect(log).toHaveLength(2);
    expect(JSON.stringify(log)).not.toContain('.example');
  });
});

describe('a redeemed ticket', () => {
  it('passes its context and correlation id to each successor', async () => {
    const { tickets, victim } = await twoSessions('launch-identifier');
    const { correlationId } = victim;
    const step = async (kind: TicketKind, ticket: string, next: TicketKind) => {
      const successor = { kind: next, ttlSeconds: 60, detail: { scope: next }, isDerived: true };
      const redemption = await tickets.redeem(kind, ticket, { successor, events: [] });
      if (redemption.outcome !== 'redeemed') throw new Error(redemption.outcome);
      return redemption.successor ?? '';
    };
    const code = await step('launch-identifier', victim.ticket, 'authorization-code');
    const token = await step('authorization-code', code, 'refresh-token');
    const found = { context: { patient: 'victim' }, detail: { scope: 'refresh-token' }, correlationId };
    expect(await tickets.find('refresh-token', token)).toEqual(found);
  });

  it('sends its events under the correlation id in the ticket, not the id in the record', async () => {
    const { prefix, tickets, mine } = await twoSessions('launch-token');
    await redis.hset(mine.key, 'correlationid', randomUUID());
    const redeemed = anEvent();
    await tickets.redeem('launch-token', mine.ticket, { events: [redeemed] });
    const sent = await drainAll(new RedisOutbox({ redis, prefix }));
    expect(sent).toEqual([{ ...redeemed, correlationid: mine.correlationId }]);
  });
});
