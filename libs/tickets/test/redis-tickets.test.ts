import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createSealers } from '@clinical-launch/crypto/sealing-purposes';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { type RedisClient, shardOfText } from '@clinical-launch/redis/redis-scripts';
import { type CuttingProxy, startCuttingProxy } from '@clinical-launch/testing/redis/cutting-proxy';
import { type RedisServer, startRedisServer } from '@clinical-launch/testing/redis/redis-server';
import {
  anEvent,
  anIssue,
  aPrefix,
  createTickets,
  issueTicket,
  redeemTicket,
  successorOf,
} from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisChains } from '../src/redis-chains.ts';
import { RedisTickets } from '../src/redis-tickets.ts';
import type { RedeemRequest, SingleUse, Tickets } from '../src/tickets.ts';
import { describeTickets } from './tickets-contract.ts';
import { onRedis } from './tickets-under-test.ts';

const successor = { kind: 'refresh-token', ttlSeconds: 60, isDerived: true } as const;
const session = { kind: 'launch-session', ttlSeconds: 60 } as const;

/** Redeems a refresh token as the token endpoint does. */
const refresh = (tickets: Tickets, ticket: string, changes: Partial<RedeemRequest> = {}) =>
  tickets.redeem('refresh-token', ticket, {
    successor,
    repeatableSeconds: 30,
    onReplay: { revokeForSeconds: 60, events: [anEvent()] },
    events: [anEvent()],
    ...changes,
  });

/** Issues an additional ticket in the chain of a refresh token. */
const push = (tickets: Tickets, ticket: string, proof?: SingleUse) =>
  tickets.issueAdditional('pushed-request', {
    live: { kind: 'refresh-token', ticket, proofs: [] },
    context: {},
    ttlSeconds: 60,
    limit: { tickets: 2, seconds: 60 },
    ...withoutUndefined({ proof }),
  });

/** The end, the record and the labels of a chain. */
const labelled = {
  chainSeconds: 60,
  chainRecord: { owner: 'host', audience: 'partner' },
  chainLabels: ['user dr.jones', 'practice A1'],
};

/** Returns the chains of the tickets with a prefix. */
const chainsOf = (prefix: string, client = redis) => new RedisChains({ redis: client, prefix });

const aProof = () => ({ name: randomUUID(), forSeconds: 60 });

async function issueToken(tickets: Tickets, correlationId: string = randomUUID()): Promise<string> {
  const issued = await tickets.issue('refresh-token', anIssue({ correlationId }));
  if (issued.outcome !== 'issued') throw new Error(issued.outcome);
  return issued.ticket;
}

let server: RedisServer;
let redis: RedisClient;
beforeAll(async () => {
  server = await startRedisServer();
  redis = await connectRedis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describeTickets('Redis', async () => onRedis(redis));

describe('tickets in Redis', () => {
  it('have ticket, claim, successor and events of a launch in the shard that the ticket names', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const claim = { name: 'pms 1', holder: 'OrderTest', ttlSeconds: 60 };
    const ticket = await issueTicket(tickets, { claim, events: [anEvent()] });
    const redemption = await redeemTicket(tickets, ticket, { successor: session });
    expect(redemption).toMatchObject({ successor: expect.stringMatching(`^${ticket.slice(0, 2)}`) });
    const keys = await redis.keys(`${prefix}*`);
    expect(keys.length).toBeGreaterThanOrEqual(6);
    for (const key of keys) expect(key.startsWith(`${prefix}{s${ticket.slice(0, 2)}}:`)).toBe(true);
  });

  it('keep the used-marker for 24 hours by default', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    await redeemTicket(tickets, await issueTicket(tickets));
    const [marker = '', ...others] = await redis.keys(`${prefix}*:used:*`);
    expect(others).toEqual([]);
    const leftMs = await redis.pttl(marker);
    expect(leftMs).toBeGreaterThan(86_300_000);
    expect(leftMs).toBeLessThanOrEqual(86_400_000);
  });

  it('are redeemed once for 1,000 requests over eight connections, and append one event', async () => {
    const prefix = aPrefix();
    const clients = await Promise.all(Array.from({ length: 8 }, () => connectRedis(server.url)));
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
    for (const client of clients) client.disconnect();
  });

  it('are not stored if an event of the issue is invalid', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const faulty = { ...anEvent(), correlationid: 'no guid' };
    const claim = { name: 'pms 3', holder: 'OrderTest', ttlSeconds: 60 };
    await expect(issueTicket(tickets, { claim, events: [anEvent(), faulty] })).rejects.toThrow(TypeError);
    expect(await redis.keys(`${prefix}*`)).toEqual([]);
  });

  it('refuse a prefix that contains a hash tag', () => {
    expect(() => createTickets(redis, 'a{b}:')).toThrow(TypeError);
  });
});

describe('a chain in Redis', () => {
  it('has all its keys and events in the shard of its correlation id', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const correlationId = randomUUID();
    const events = [anEvent()];
    const tokens = await Promise.all([1, 2, 3].map(() => issueToken(tickets, correlationId)));
    await push(tickets, tokens[0] ?? '');
    await refresh(tickets, tokens[0] ?? '');
    await tickets.issue('launch-identifier', anIssue({ correlationId, ...labelled }));
    await chainsOf(prefix).revoke(correlationId, { forSeconds: 60, events });
    const shards = (await redis.keys(`${prefix}*`)).map((key) => key.slice(prefix.length).slice(0, 5));
    expect(shards.length).toBeGreaterThan(8);
    expect(new Set(shards).size).toBe(1);
    expect(shards[0]).toBe(`{s${tokens[0]?.slice(0, 2)}}`);
  });

  it('has only keys that expire, except streams and counters, and stores the answers for repeated requests only for the grace period', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const claim = { name: 'pms 2', holder: 'OrderTest', ttlSeconds: 60 };
    const notice = { content: 'page', ttlSeconds: 60 };
    await redeemTicket(tickets, await issueTicket(tickets, { claim, notice }), { successor: session });
    const token = await issueToken(tickets);
    await push(tickets, token);
    await refresh(tickets, token, { repeatableSeconds: 5 });
    await refresh(tickets, token, { proof: { name: 'proof', forSeconds: 60 } });
    await chainsOf(prefix).use(randomUUID(), { limit: { uses: 1, seconds: 60 }, events: [anEvent()] });
    await tickets.issue('launch-identifier', anIssue(labelled));
    await chainsOf(prefix).revoke(randomUUID(), { forSeconds: 60, events: [anEvent()] });
    const keys = await redis.keys(`${prefix}*`);
    const repeatable = keys.filter((key) => key.includes(':repeatable:'));
    expect(repeatable).toHaveLength(1);
    expect(await redis.pttl(repeatable[0] ?? '')).toBeLessThanOrEqual(5000);
    for (const key of keys) {
      const isKept = /:(?:outbox|committed|history:launch|history:desktop)$/.test(key);
      expect({ key, expires: (await redis.pttl(key)) > 0 }).toEqual({ key, expires: !isKept });
    }
  });

  it('keeps the used-markers of refresh tokens until the chain ends', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const chain = { correlationId: randomUUID(), chainSeconds: 600 };
    const code = await tickets.issue('authorization-code', anIssue(chain));
    if (code.outcome !== 'issued') throw new Error(code.outcome);
    const redemption = await tickets.redeem('authorization-code', code.ticket, { successor, events: [] });
    await refresh(tickets, successorOf(redemption), { limit: { redemptions: 5 } });
    const leftOf = async (part: string) => {
      const [key = '', ...others] = await redis.keys(`${prefix}*:${part}:*`);
      expect(others).toEqual([]);
      return redis.pttl(key);
    };
    for (const part of ['used:refresh-token', 'redemptions:refresh-token'])
      expect(await leftOf(part)).toBeLessThanOrEqual(600_000);
    expect(await leftOf('used:authorization-code')).toBeGreaterThan(86_000_000);
  });

  it('needs one round trip for each operation', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const act = async () => {
      const claim = { name: randomUUID(), holder: 'OrderTest', ttlSeconds: 60 };
      const launch = await issueTicket(tickets, { claim, events: [anEvent()] });
      await redeemTicket(tickets, launch, { successor: session, events: [anEvent()] });
      const correlationId = randomUUID();
      const token = await issueToken(tickets, correlationId);
      const proof = { name: 'proof', forSeconds: 60 };
      expect(await push(tickets, token, proof)).toMatchObject({ outcome: 'issued' });
      const next = successorOf(await refresh(tickets, token));
      expect(await refresh(tickets, token)).toMatchObject({ outcome: 'repeated' });
      expect(await tickets.find('refresh-token', next)).toBeDefined();
      const onReplay = { revokeForSeconds: 60, events: [anEvent()] };
      const replay = await tickets.redeem('refresh-token', token, { onReplay, events: [] });
      expect(replay).toMatchObject({ outcome: 'used' });
      await chainsOf(prefix).use(correlationId, { limit: { uses: 1, seconds: 60 }, events: [anEvent()] });
      await tickets.issue('launch-identifier', anIssue({ ...labelled, events: [anEvent()] }));
      await chainsOf(prefix).revoke(correlationId, { forSeconds: 60, events: [anEvent()] });
      expect(await chainsOf(prefix).isRevoked(correlationId)).toBe(true);
    };
    await act();

    const watcher = await connectRedis(server.url);
    if (!('monitor' in watcher)) throw new Error('A single Redis was expected, not a cluster');
    const monitor = await watcher.monitor();
    const asked: string[] = [];
    monitor.on('monitor', (_time: string, [command = '', text]: string[], source: string) => {
      if (source !== 'lua') asked.push(command === 'echo' ? `echo ${text}` : command);
    });
    await act();
    await redis.echo('end');
    await until(async () => asked.includes('echo end'));
    monitor.disconnect();
    watcher.disconnect();
    expect(asked).toEqual([...Array<string>(12).fill('evalsha'), 'echo end']);
  });

  it('with labels is indexed by hashes of the labels until the last chain with these labels ends', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const ids = Array.from({ length: 1000 }, () => randomUUID()).filter((id) => shardOfText(id) === '07');
    for (const [index, chainSeconds] of [60, 600, 60].entries()) {
      const correlationId = ids[index] ?? '';
      await tickets.issue('launch-identifier', anIssue({ ...labelled, chainSeconds, correlationId }));
    }
    const keys = await redis.keys(`${prefix}*:labelled:*`);
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(500_000);
    expect(keys.join(' ')).not.toMatch(/jones|A1|host/);
  });

  it('stores neither random nor derived tickets, in memory or on disk', async () => {
    const tickets = createTickets(redis, aPrefix());
    const first = await issueToken(tickets);
    const second = successorOf(await refresh(tickets, first));
    const third = successorOf(await refresh(tickets, second));
    expect(await refresh(tickets, second)).toMatchObject({ outcome: 'repeated', successor: third });
    // The append-only file contains every change.
    const directory = join(server.directory, 'appendonlydir');
    const files = (await readdir(directory)).map((name) => readFile(join(directory, name), 'latin1'));
    const written = (await Promise.all(files)).join('\n');
    expect(written).toContain(':repeatable:refresh-token:');
    for (const secret of [first, second, third]) {
      expect(secret).toHaveLength(89);
      const [chainSecret, own] = [secret.slice(24, 46), secret.slice(46)];
      expect([chainSecret, own].some((part) => written.includes(part))).toBe(false);
    }
  });
});

describe('a derived ticket in Redis', () => {
  const older = { id: 'older', key: randomBytes(32) };
  const newer = { id: 'newer', key: randomBytes(32) };
  const withKeys = (keys: Parameters<typeof createSealers>[0], prefix: string) =>
    new RedisTickets({ redis, sealers: createSealers(keys), prefix });

  it('depends on the sealing key', async () => {
    const [onePrefix, otherPrefix] = [aPrefix(), aPrefix()];
    const one = withKeys([older], onePrefix);
    const other = withKeys([newer, older], otherPrefix);
    const token = await issueToken(one);
    const [key = ''] = await redis.keys(`${onePrefix}*:ticket:*`);
    await redis.copy(key, key.replace(onePrefix, otherPrefix));
    const successors = [await refresh(one, token), await refresh(other, token)];
    expect(successors.map(({ outcome }) => outcome)).toEqual(['redeemed', 'redeemed']);
    expect(new Set(successors.map(successorOf)).size).toBe(2);
  });

  it('is the same after a rotation of the sealing key', async () => {
    const prefix = aPrefix();
    const [before, after] = [withKeys([older], prefix), withKeys([newer, older], prefix)];
    const token = await issueToken(before);
    const next = successorOf(await refresh(before, token));
    expect(await refresh(after, token)).toMatchObject({ outcome: 'repeated', successor: next });
    const last = successorOf(await refresh(after, next));
    expect(await after.find('refresh-token', last)).toBeDefined();
    expect(await refresh(after, token)).toMatchObject({ outcome: 'repeated', successor: last });
  });
});

describe('a chain of tickets, when the reply of Redis is lost', () => {
  let proxy: CuttingProxy;
  let cut: RedisClient;
  beforeAll(async () => {
    proxy = await startCuttingProxy(server.port);
    cut = await connectRedis(`redis://127.0.0.1:${proxy.port}`);
  });
  afterAll(async () => {
    cut.disconnect();
    await proxy.stop();
  });

  it('does not treat the retry of a successful redemption as a replay', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(cut, prefix);
    for (let round = 0; round < 10; round += 1) {
      const correlationId = randomUUID();
      const token = await issueToken(tickets, correlationId);
      proxy.cut(1);
      const redemption = await refresh(tickets, token);
      expect(redemption).toMatchObject({ outcome: 'redeemed' });
      expect(await chainsOf(prefix, cut).isRevoked(correlationId)).toBe(false);
      expect(await tickets.find('refresh-token', successorOf(redemption))).toBeDefined();
    }
    expect(await new RedisOutbox({ redis, prefix }).committed()).toBe(10);
  });

  it('counts a pushed request once when it is retried', async () => {
    const tickets = createTickets(cut, aPrefix());
    const token = await issueToken(tickets);
    await push(tickets, await issueToken(tickets));
    for (const outcome of ['issued', 'issued', 'limited']) {
      proxy.cut(1);
      expect(await push(tickets, token)).toMatchObject({ outcome });
    }
  });

  it('counts a refresh once when it is retried', async () => {
    const tickets = createTickets(cut, aPrefix());
    const limit = { redemptions: 2 };
    let token = await issueToken(tickets);
    await refresh(tickets, await issueToken(tickets), { limit });
    for (const outcome of ['redeemed', 'redeemed', 'exhausted']) {
      proxy.cut(1);
      const redemption = await refresh(tickets, token, { limit });
      expect(redemption).toMatchObject({ outcome });
      if (redemption.outcome === 'redeemed') token = successorOf(redemption);
    }
  });

  it('accepts the proof of a retried request', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(cut, prefix);
    const token = await issueToken(tickets);
    const [one, other, third] = [aProof(), aProof(), aProof()];
    const correlationId = randomUUID();
    const use = () =>
      chainsOf(prefix, cut).use(correlationId, {
        proof: one,
        limit: { uses: 1, seconds: 60 },
        events: [anEvent()],
      });
    await refresh(tickets, await issueToken(tickets), { proof: one });
    await push(tickets, await issueToken(tickets));
    proxy.cut(1);
    expect(await push(tickets, token, other)).toMatchObject({ outcome: 'issued' });
    proxy.cut(1);
    expect(await refresh(tickets, token, { proof: third, events: [] })).toMatchObject({
      outcome: 'redeemed',
    });
    proxy.cut(1);
    expect(await use()).toEqual({ outcome: 'accepted' });
    expect(await use()).toEqual({ outcome: 'used-proof' });
    expect(await new RedisOutbox({ redis, prefix }).committed()).toBe(2);
  });

  it('appends the events of a replay and a revocation once', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(cut, prefix);
    const outbox = new RedisOutbox({ redis, prefix });
    const token = await issueToken(tickets);
    await refresh(tickets, token, { events: [] });
    proxy.cut(1);
    const onReplay = { revokeForSeconds: 60, events: [anEvent()] };
    expect(await tickets.redeem('refresh-token', token, { onReplay, events: [] })).toMatchObject({
      outcome: 'used',
    });
    expect(await outbox.committed()).toBe(1);
    const cutsBefore = proxy.cuts;
    proxy.cut(1);
    await chainsOf(prefix, cut).revoke(randomUUID(), { forSeconds: 60, events: [anEvent()] });
    expect(proxy.cuts - cutsBefore).toBe(1);
    expect(await outbox.committed()).toBe(2);
  });

  it('answers `repeated` to the retry of a repeated request even if the grace period has ended', async () => {
    const prefix = aPrefix();
    const correlationId = randomUUID();
    const tickets = createTickets(redis, prefix);
    const token = await issueToken(tickets, correlationId);
    const next = successorOf(await refresh(tickets, token, { repeatableSeconds: 2 }));
    const hasClosed = async () => (await redis.keys(`${prefix}*:repeatable:*`)).length === 0;
    const repeated = await refresh(createTickets(losingOneReply(redis, hasClosed), prefix), token);
    expect(repeated).toMatchObject({ outcome: 'repeated', successor: next });
    expect(await chainsOf(prefix).isRevoked(correlationId)).toBe(false);
    expect(await refresh(tickets, token)).toEqual({ outcome: 'used', correlationId });
    expect(await chainsOf(prefix).isRevoked(correlationId)).toBe(true);
  });
});

/** Returns a client that runs its first script, waits until `hasBecome` is true, and then loses the reply. */
function losingOneReply(client: RedisClient, hasBecome: () => Promise<boolean>): RedisClient {
  let isLost = false;
  return new Proxy(client, {
    get(target, name) {
      if (name !== 'evalsha') return Reflect.get(target, name);
      return async (...args: Parameters<Redis['evalsha']>) => {
        const reply: unknown = await target.evalsha(...args);
        if (isLost) return reply;
        isLost = true;
        await until(hasBecome);
        throw new Error('Connection is closed.');
      };
    },
  });
}
