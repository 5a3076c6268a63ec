import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { type RedisClient, RedisUnavailable } from '@clinical-launch/redis/redis-scripts';
import type { CuttingProxy } from '@clinical-launch/testing/redis/cutting-proxy';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import {
  anEvent,
  anIssue,
  aPrefix,
  createTickets,
  drainAll,
  issueTicket,
  redeemTicket,
} from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisOnce } from '../src/redis-chains.ts';
import type { Tickets } from '../src/tickets.ts';

/** Returns the outcome of a redemption, or `unavailable`. */
const outcomeOf = async (tickets: Tickets, ticket: string) => {
  try {
    return (await redeemTicket(tickets, ticket, { events: [anEvent()] })).outcome;
  } catch (error) {
    if (error instanceof RedisUnavailable) return 'unavailable';
    throw error;
  }
};

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof RedisUnavailable)) throw error;
}

describe('tickets, when the reply of Redis is lost', () => {
  const lab = createRedisLab();
  let proxy: CuttingProxy;
  let redis: RedisClient;
  beforeAll(async () => {
    const server = await lab.server();
    proxy = await lab.proxy(server.port);
    redis = await lab.client(`redis://127.0.0.1:${proxy.port}`);
  });
  afterAll(() => lab.stop());

  it('answer `redeemed` with the full result to the retry of a redemption', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const cutsBefore = proxy.cuts;
    for (let round = 0; round < 25; round += 1) {
      const ticket = await issueTicket(tickets, { context: { round }, detail: 'd', challenge: 'c' });
      proxy.cut(1);
      const redemption = await redeemTicket(tickets, ticket, {
        proofs: ['c'],
        successor: { kind: 'launch-session', ttlSeconds: 60 },
        events: [anEvent()],
      });
      expect(redemption).toMatchObject({ outcome: 'redeemed', context: { round }, detail: 'd' });
      const session = redemption.outcome === 'redeemed' ? redemption.successor : undefined;
      expect(await tickets.find('launch-session', session ?? '')).toMatchObject({ context: { round } });
      expect(await redeemTicket(tickets, ticket, { proofs: ['c'] })).toMatchObject({ outcome: 'used' });
    }
    expect(proxy.cuts - cutsBefore).toBe(25);
    const outbox = new RedisOutbox({ redis, prefix });
    expect(await outbox.committed()).toBe(25);
    expect(await drainAll(outbox)).toHaveLength(25);
  });

  it('answer `issued` to the retry of an issue whose first attempt stored the claim', async () => {
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix);
    const claim = { name: 'pms 1', holder: 'OrderTest', ttlSeconds: 60 };
    proxy.cut(1);
    const ticket = await issueTicket(tickets, { claim, events: [anEvent()] });
    expect(await tickets.issue('launch-token', anIssue({ claim }))).toEqual({ outcome: 'claimed' });
    expect(await redeemTicket(tickets, ticket)).toMatchObject({ outcome: 'redeemed' });
    expect(await new RedisOutbox({ redis, prefix }).committed()).toBe(1);
  });

  it('answer the retry of a successful use of a name as successful', async () => {
    const prefix = aPrefix();
    const once = new RedisOnce({ redis, prefix });
    const use = (name: string) => once.use(name, { forSeconds: 60, events: [anEvent()] });
    // Loads the script into the server first, so that the proxy cuts the reply of a script that ran.
    await use('assertion 1');
    proxy.cut(1);
    expect(await use('assertion 2')).toBe(true);
    expect(await use('assertion 2')).toBe(false);
    expect(await new RedisOutbox({ redis, prefix }).committed()).toBe(2);
  });

  it('count a wrong proof once', async () => {
    const tickets = createTickets(redis, aPrefix());
    const ticket = await issueTicket(tickets, { challenge: 'c' });
    const onMismatch = { limit: 3, revokeForSeconds: 60, events: [] };
    for (let round = 0; round < 2; round += 1) {
      proxy.cut(1);
      const redemption = await redeemTicket(tickets, ticket, { proofs: ['wrong'], onMismatch });
      expect(redemption).toMatchObject({ outcome: 'mismatch' });
    }
    expect(await redeemTicket(tickets, ticket, { proofs: ['c'], onMismatch })).toMatchObject({
      outcome: 'redeemed',
    });
  });

  it('append events once', async () => {
    const outbox = new RedisOutbox({ redis, prefix: aPrefix() });
    const [first, second] = [anEvent(), anEvent()];
    // Loads the script into the server first, so that the proxy cuts the reply of a script that ran.
    await outbox.append([first]);
    proxy.cut(1);
    await outbox.append([second]);
    expect(await outbox.committed()).toBe(2);
    expect(new Set(await drainAll(outbox))).toEqual(new Set([first, second]));
  });

  it('throw RedisUnavailable if the reply to the retry is lost too, although Redis has redeemed the ticket', async () => {
    const tickets = createTickets(redis, aPrefix());
    const ticket = await issueTicket(tickets);
    proxy.cut(2);
    await expect(redeemTicket(tickets, ticket)).rejects.toMatchObject({
      name: 'RedisUnavailable',
      retryAfterSeconds: 1,
    });
    await until(async () => (await outcomeOf(tickets, ticket)) === 'used');
  });
});

describe('a Redis that is killed and restarts from its append-only file', () => {
  const lab = createRedisLab();
  afterEach(() => lab.stop());

  it('redeems no ticket twice, and keeps each change together with its events', async () => {
    const server = await lab.server();
    const redis = await lab.client(server.url);
    const prefix = aPrefix();
    const tickets = createTickets(redis, prefix, { failoverGuardSeconds: 0.5 });
    const [issued, redeemed] = [new Set<string>(), new Set<string>()];
    let isDown = false;
    let refusals = 0;
    const launchUntilDown = async () => {
      while (!isDown) {
        try {
          const ticket = await issueTicket(tickets, { events: [anEvent()] });
          issued.add(ticket);
          // Leaves every second ticket unused, so that it is redeemed later.
          if (issued.size % 2 === 0) continue;
          const { outcome } = await redeemTicket(tickets, ticket, { events: [anEvent()] });
          if (outcome === 'redeemed') redeemed.add(ticket);
        } catch (error) {
          if (!(error instanceof RedisUnavailable)) throw error;
          refusals += 1;
        }
      }
    };
    const launches = Array.from({ length: 20 }, launchUntilDown);
    await until(async () => redeemed.size > 500);
    await server.kill();
    await until(async () => refusals >= 20);
    isDown = true;
    await Promise.all(launches);
    await server.restart();

    // Used tickets stay used. The other tickets are redeemed after the failover guard.
    await until(async () => {
      // The client may not have reconnected yet.
      const ticket = await issueTicket(tickets, { events: [anEvent()] }).catch(unlessUnavailable);
      return ticket !== undefined && (await outcomeOf(tickets, ticket)) === 'redeemed';
    });
    for (const ticket of redeemed) expect(await outcomeOf(tickets, ticket)).toBe('used');
    const rest = [...issued].filter((each) => !redeemed.has(each));
    const redeemInTheEnd = async (ticket: string) => {
      let outcome = await outcomeOf(tickets, ticket);
      await until(async () => {
        if (outcome === 'unavailable') outcome = await outcomeOf(tickets, ticket);
        return outcome !== 'unavailable';
      });
      // The outcome is `used` if the answer of a redemption was lost when Redis was killed.
      expect(['redeemed', 'used']).toContain(outcome);
      expect(await outcomeOf(tickets, ticket)).toBe('used');
    };
    await Promise.all(rest.map(redeemInTheEnd));

    // There is one event for each issue and one for each redemption, including redemptions whose answer was
    // lost.
    const keys = await redis.keys(`${prefix}*`);
    const used = keys.filter((key) => key.includes(':used:')).length;
    const unused = keys.filter((key) => key.includes(':ticket:')).length;
    const outbox = new RedisOutbox({ redis, prefix });
    const events = await drainAll(outbox);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2 * used + unused);
    expect(await outbox.committed()).toBe(2 * used + unused);
  });
});

describe('a Redis that may lack the newest writes, after a failover or a restart', () => {
  const lab = createRedisLab();
  afterEach(() => lab.stop());

  it('redeems newer tickets at once, but tickets from before its promotion only after `failoverGuardSeconds`', async () => {
    const [first, second] = [await lab.server(), await lab.server()];
    const [master, replica] = [await lab.client(first.url), await lab.client(second.url)];
    const prefix = aPrefix();
    const before = createTickets(master, prefix);
    const after = createTickets(replica, prefix, { failoverGuardSeconds: 3 });
    await replica.call('REPLICAOF', '127.0.0.1', first.port);
    await until(async () => (await replica.info('replication')).includes('master_link_status:up'));
    const tickets = await Promise.all(Array.from({ length: 100 }, () => issueTicket(before)));
    await until(async () => (await master.call('WAIT', 1, 1000)) === 1);
    await replica.call('REPLICAOF', 'NO', 'ONE');

    // The old primary redeems the tickets, but these writes never reach the new primary.
    for (const ticket of tickets) expect(await outcomeOf(before, ticket)).toBe('redeemed');
    const outcomes = await Promise.all(tickets.map((ticket) => outcomeOf(after, ticket)));
    expect(new Set(outcomes)).toEqual(new Set(['unavailable']));
    expect(await outcomeOf(after, await issueTicket(after))).toBe('redeemed');
    // Tickets that outlive the guard are accepted. The guard is meant for launch tokens, which expire before
    // it ends.
    await until(async () => (await outcomeOf(after, tickets[0] ?? '')) === 'redeemed');
  });

  it('refuses a ticket from before the restart, and states after how many seconds it can be redeemed', async () => {
    const server = await lab.server();
    // The guard lasts longer than the test takes on any machine.
    const tickets = createTickets(await lab.client(server.url), aPrefix(), { failoverGuardSeconds: 3600 });
    const ticket = await issueTicket(tickets);
    await server.kill();
    await server.restart();
    let newer: string | undefined;
    await until(async () => {
      // The client may not have reconnected yet.
      newer = await issueTicket(tickets).catch(unlessUnavailable);
      return newer !== undefined;
    });
    const refusal = await redeemTicket(tickets, ticket).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RedisUnavailable);
    const { retryAfterSeconds } = refusal as RedisUnavailable;
    expect(retryAfterSeconds).toBeGreaterThan(3000);
    expect(retryAfterSeconds).toBeLessThanOrEqual(3600);
    expect(await outcomeOf(tickets, newer ?? '')).toBe('redeemed');
  });
});

describe('the data in Redis', () => {
  const lab = createRedisLab();
  afterEach(() => lab.stop());

  it('contains no ticket, context or detail in plain text, neither in memory nor on disk', async () => {
    const server = await lab.server();
    const redis = await lab.client(server.url);
    const tickets = createTickets(redis, aPrefix());
    const context = { patient: 'Featherstonehaugh', born: '1958-02-28' };
    const detail = { redirectUri: 'app://secretive' };
    const claim = { name: 'originating-id-of-the-caller', holder: 'OrderTest', ttlSeconds: 60 };
    const secrets = [context.patient, context.born, detail.redirectUri, claim.name];
    for (const isRedeemed of [true, false]) {
      const request = { context, detail, events: [anEvent()], ...(isRedeemed ? { claim } : {}) };
      const ticket = await issueTicket(tickets, request);
      secrets.push(ticket);
      if (!isRedeemed) continue;
      const successor = { kind: 'launch-session' as const, ttlSeconds: 60, detail };
      const redemption = await redeemTicket(tickets, ticket, { successor, events: [anEvent()] });
      if (redemption.outcome === 'redeemed') secrets.push(redemption.successor ?? '');
    }

    const kept = await contentOf(redis);
    // The append-only file contains every change.
    const directory = join(server.directory, 'appendonlydir');
    const files = (await readdir(directory)).map((name) => readFile(join(directory, name), 'latin1'));
    const written = (await Promise.all(files)).join('\n');
    for (const text of [kept, written]) {
      expect(text).toContain(':ticket:launch-token:');
      expect(text).toContain(':ticket:launch-session:');
      expect(text).toContain('correlationid');
      for (const secret of secrets) {
        expect(secret.length).toBeGreaterThan(8);
        expect(text.includes(secret)).toBe(false);
        // The ticket without its shard must not appear either.
        expect(text.includes(secret.slice(2))).toBe(false);
      }
    }
  });
});

/** Returns all keys and values. */
async function contentOf(redis: RedisClient): Promise<string> {
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  const contents = (await redis.keys('*')).map(async (key) => {
    const read = readers[await redis.type(key)];
    if (read === undefined) throw new Error(`${key} is of another type`);
    return [key, await read(key)];
  });
  return JSON.stringify(await Promise.all(contents));
}
