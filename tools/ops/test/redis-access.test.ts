import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventSource } from '@clinical-launch/contracts/events/cloud-event';
import { RedisLimits } from '@clinical-launch/limits/redis-limits';
import { createSharedRateLimiter } from '@clinical-launch/limits/shared-rate-limit';
import { followOutbox } from '@clinical-launch/redis/outbox-progress';
import { assertSafeRedis } from '@clinical-launch/redis/redis-info';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { wakeRelays } from '@clinical-launch/redis/redis-wakes';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { anEvent, createTickets, sealers } from '@clinical-launch/testing/ticket-fixtures';
import { RedisChains, RedisOnce } from '@clinical-launch/tickets/redis-chains';
import { RedisClaims } from '@clinical-launch/tickets/redis-claims';
import { RedisTickets } from '@clinical-launch/tickets/redis-tickets';
import { RedisRevokedTokens } from '@clinical-launch/trust/redis-revoked-tokens';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { redisAclFile, eventSourceNames as services } from '../src/access.ts';

const lab = createRedisLab();
const users = services.map((service) => ({ service, name: service, password: `password-of-${service}` }));
const prefix = 'separation-test:';
const folders: string[] = [];
let single: string;
let clustered: string;

const as = (name: string, url: string) => url.replaceAll('redis://', `redis://${name}:password-of-${name}@`);

async function aclFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tickets-acl-'));
  folders.push(folder);
  const file = join(folder, 'users.acl');
  const admin = 'user admin on >password-of-admin ~* &* +@all\n';
  writeFileSync(file, redisAclFile(users, prefix) + admin);
  return file;
}

beforeAll(async () => {
  single = (await lab.server('--maxmemory-policy', 'noeviction', '--aclfile', await aclFile())).url;
  const cluster = await lab.cluster();
  clustered = cluster.url;
  // Users are not replicated, so each node of a cluster must receive them.
  const lines = redisAclFile(users, prefix).trim().split('\n');
  for (const { port } of cluster.servers) {
    const node = new Redis(port);
    await node.acl('SETUSER', 'admin', 'on', '>password-of-admin', '~*', '&*', '+@all');
    for (const line of lines) {
      const [, name = '', ...rules] = line.match(/\([^)]*\)|\S+/g) ?? [];
      await node.acl('SETUSER', name, ...rules);
    }
    node.disconnect();
  }
});

afterAll(async () => {
  await lab.stop();
  for (const folder of folders) await rm(folder, { recursive: true });
});

/**
 * The Redis operations of each service and of the operator. Each function runs all Redis scripts of its
 * service.
 */
const work: Readonly<Record<EventSource, (redis: RedisClient) => Promise<void>>> = {
  'identity-provider': async (redis) => {
    const tickets = createTickets(redis, prefix);
    const chains = new RedisChains({ redis, prefix });
    const correlationId = randomUUID();
    const owner = { owner: 'host', audience: 'partner' };
    const launch = await issued(
      tickets.issue('launch-identifier', {
        ...aTicket(correlationId),
        chainSeconds: 60,
        chainRecord: owner,
        chainLabels: ['user', 'practice'],
      }),
    );
    const selection = { owner: 'host', labels: ['user', 'practice'] };
    expect(await chains.list(selection)).toContain(correlationId);
    await tickets.find('launch-identifier', launch);
    await chains.findOf('launch-identifier', launch);
    const pushing = {
      live: { kind: 'launch-identifier', ticket: launch, proofs: [] },
      context: {},
      ttlSeconds: 60,
      limit: { tickets: 2, seconds: 60 },
    } as const;
    const pushProof = { name: randomUUID(), forSeconds: 60 };
    await tickets.issueAdditional('pushed-request', { ...pushing, proof: pushProof });
    const pushed = await tickets.issueAdditional('pushed-request', pushing);
    expect(await tickets.issueAdditional('pushed-request', pushing)).toMatchObject({ outcome: 'limited' });
    if (pushed.outcome !== 'issued') throw new Error(pushed.outcome);
    await redeemed(tickets.redeem('pushed-request', pushed.ticket, { events: [] }));
    const { successor: code = '' } = await redeemed(
      tickets.redeem('launch-identifier', launch, {
        successor: { kind: 'authorization-code', ttlSeconds: 60, challenge: 'proof' },
        events: [anEvent()],
      }),
    );
    const revoking = { revokeForSeconds: 60, events: [anEvent()] };
    await tickets.find('authorization-code', code);
    await tickets.redeem('authorization-code', code, {
      proofs: ['wrong'],
      onReplay: revoking,
      onMismatch: { limit: 2, ...revoking },
      events: [],
    });
    const { successor: refresh = '' } = await redeemed(
      tickets.redeem('authorization-code', code, {
        proofs: ['proof'],
        successor: { kind: 'refresh-token', ttlSeconds: 60, chainSeconds: 60 },
        onReplay: revoking,
        events: [anEvent()],
      }),
    );
    const proof = () => ({ name: randomUUID(), forSeconds: 60 });
    const repeatable = {
      successor: { kind: 'refresh-token', ttlSeconds: 60, isDerived: true },
      repeatableSeconds: 10,
      limit: { redemptions: 10 },
      onReplay: revoking,
      events: [anEvent()],
    } as const;
    await tickets.find('refresh-token', refresh);
    await redeemed(tickets.redeem('refresh-token', refresh, { ...repeatable, proof: proof() }));
    await redeemed(tickets.redeem('refresh-token', refresh, { ...repeatable, proof: proof() }));
    await tickets.redeem('authorization-code', code, { onReplay: revoking, events: [] });
    await chains.revoke(correlationId, { forSeconds: 60, events: [anEvent()], owner: 'host' });
    expect(await chains.isRevoked(correlationId)).toBe(true);
    const guessed = await issued(tickets.issue('launch-identifier', aTicket(randomUUID())));
    const { successor: other = '' } = await redeemed(
      tickets.redeem('launch-identifier', guessed, {
        successor: { kind: 'authorization-code', ttlSeconds: 60, challenge: 'proof' },
        events: [],
      }),
    );
    const mismatch = { proofs: ['wrong'], onMismatch: { limit: 1, ...revoking }, events: [] };
    await tickets.redeem('authorization-code', other, mismatch);
    await new RedisOnce({ redis, prefix }).use(randomUUID(), { forSeconds: 10, events: [anEvent()] });
    await new RedisOutbox({ redis, prefix }).append([anEvent()]);
    const limits = new RedisLimits({ redis, prefix });
    await limits.failAttempt('client');
    const revoked = new RedisRevokedTokens({ redis, prefix, maxTokens: 1 });
    await revoked.revoke('a', { owner: 'client', forSeconds: 60, events: [anEvent()] });
    await revoked.revoke('b', { owner: 'client', forSeconds: 60, events: [anEvent()] });
    expect([await revoked.has('a'), await revoked.has('b')]).toEqual([true, false]);
    expect((await revoked.readAfter()).tokens).toHaveLength(1);
    await countRequests(redis, 'identity-provider');
  },
  'launch-api': async (redis) => {
    const claims = new RedisClaims({ redis, prefix });
    await claims.areComplete();
    const tickets = new RedisTickets({ redis, prefix, sealers, requiresCompleteClaims: true });
    await new RedisClaims({ redis: await everything(redis), prefix }).rebuild((async function* () {})());
    const claim = { name: randomUUID(), holder: 'OrderTest', ttlSeconds: 60 };
    await issued(tickets.issue('launch-token', { ...aTicket(randomUUID()), notice }));
    await issued(tickets.issue('launch-token', { ...aTicket(randomUUID()), claim }));
    expect(await tickets.issue('launch-token', { ...aTicket(randomUUID()), claim })).toEqual({
      outcome: 'claimed',
    });
    await readRevokedTokens(redis);
    await countRequests(redis, 'launch-api');
  },
  'launch-gateway': async (redis) => {
    const token = await launchToken(redis);
    const tickets = createTickets(redis, prefix);
    const successor = { kind: 'launch-session', ttlSeconds: 60, chainSeconds: 60 } as const;
    expect(
      await tickets.redeem('launch-token', token, { successor, proofs: ['x'], events: [] }),
    ).toMatchObject({
      outcome: 'redeemed',
    });
    expect(await tickets.redeem('launch-token', token, { successor, events: [] })).toMatchObject({
      outcome: 'used',
      notice: notice.content,
    });
  },
  ordering: async (redis) => {
    const session = await launchSession(redis);
    const tickets = createTickets(redis, prefix);
    expect(await tickets.find('launch-session', session, { extendSeconds: 30 })).toBeDefined();
    await redeemed(tickets.redeem('launch-session', session, { events: [anEvent()] }));
  },
  'order-renderer': async (redis) => {
    const session = await launchSession(redis);
    const tickets = createTickets(redis, prefix);
    expect(await tickets.find('launch-session', session)).toBeDefined();
  },
  'resource-api': async (redis) => {
    const chains = new RedisChains({ redis, prefix });
    expect(await chains.isRevoked(randomUUID())).toBe(false);
    const use = { limit: { uses: 2, seconds: 60 }, events: [anEvent()] };
    const proof = { name: randomUUID(), forSeconds: 60 };
    const read = randomUUID();
    const uses = [await chains.use(read, use), await chains.use(read, { ...use, proof })];
    uses.push(await chains.use(read, { ...use, proof }), await chains.use(read, use));
    expect(uses.map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted', 'used-proof', 'limited']);
    await countRequests(redis, 'resource-api');
  },
  'audit-trail': async (redis) => {
    const claims = new RedisClaims({ redis, prefix });
    await claims.rebuild(
      (async function* () {
        yield [{ name: randomUUID(), holder: 'OrderTest', expiresAt: Date.now() + 60_000 }];
      })(),
    );
    expect(await claims.areComplete()).toBe(true);
    await readRevokedTokens(redis);
    const ended = new RedisRevokedTokens({ redis, prefix, list: 'ended-sessions', maxTokens: 1 });
    for (const id of ['a', 'b']) await ended.revoke(id, { owner: 'staff', forSeconds: 60, events: [] });
    expect([await ended.has('a'), await ended.has('b')]).toEqual([true, false]);
    for (const stream of ['outbox', 'refused'] as const) {
      const outbox = new RedisOutbox({ redis, prefix, stream });
      await outbox.append([anEvent()]);
      const away = () => Promise.reject(new Error('the broker is down'));
      await expect(outbox.drain(away)).rejects.toThrow('down');
      await outbox.drain(async () => undefined);
      expect([await outbox.depth(), await outbox.oldestAgeMs()]).toEqual([0, 0]);
      const woken = Promise.withResolvers<void>();
      const stop = wakeRelays(redis, [{ outbox, nudge: woken.resolve }]);
      await woken.promise;
      await stop();
    }
  },

  operator: async (redis) => {
    const chains = new RedisChains({ redis, prefix });
    const claim = randomUUID();
    for (const owner of [{}, { owner: 'host' }, { claim }]) {
      await chains.revoke(randomUUID(), { forSeconds: 60, events: [anEvent()], ...owner });
    }
    await new RedisOutbox({ redis, prefix }).append([anEvent()]);
    const isRelayed = await followOutbox({ redis, prefix });
    expect(await isRelayed()).toBe(false);
  },
};

const notice = { content: 'page', ttlSeconds: 60 };

const aTicket = (correlationId: string) => ({
  context: {},
  correlationId,
  ttlSeconds: 60,
  events: [anEvent()],
});

async function issued(issuing: ReturnType<RedisTickets['issue']>): Promise<string> {
  const issue = await issuing;
  if (issue.outcome !== 'issued') throw new Error(issue.outcome);
  return issue.ticket;
}

async function redeemed(redeeming: ReturnType<RedisTickets['redeem']>): Promise<{ successor?: string }> {
  const redemption = await redeeming;
  if (redemption.outcome !== 'redeemed' && redemption.outcome !== 'repeated') {
    throw new Error(redemption.outcome);
  }
  return redemption;
}

/** Reads one page of the list of revoked tokens, which contains one token. */
async function readRevokedTokens(redis: RedisClient): Promise<void> {
  const writer = new RedisRevokedTokens({ redis: await everything(redis), prefix });
  await writer.revoke(randomUUID(), { owner: 'client', forSeconds: 60, events: [] });
  expect((await new RedisRevokedTokens({ redis, prefix }).readAfter()).tokens).not.toEqual([]);
}

async function countRefusal(redis: RedisClient): Promise<void> {
  const limit = { refusals: 5, windowSeconds: 1 };
  await new RedisLimits({ redis, prefix }).refuse({ from: '192.0.2.1', limit, events: [anEvent()] });
}

async function countRequests(redis: RedisClient, service: string): Promise<void> {
  await createSharedRateLimiter({ redis, prefix, service }).count('client', 10);
}

/** Returns a client of an administrator, to create the data of other services. */
const everything = (redis: RedisClient) => lab.client(as('admin', urlOf(redis)));
const urlOf = (redis: RedisClient) => (redis instanceof Redis ? single : clustered);

async function launchToken(redis: RedisClient): Promise<string> {
  const tickets = createTickets(await everything(redis), prefix);
  return issued(tickets.issue('launch-token', { ...aTicket(randomUUID()), notice }));
}

async function launchSession(redis: RedisClient): Promise<string> {
  const tickets = createTickets(await everything(redis), prefix);
  const successor = { kind: 'launch-session', ttlSeconds: 60, chainSeconds: 60 } as const;
  const redemption = await redeemed(
    tickets.redeem('launch-token', await launchToken(redis), { successor, events: [] }),
  );
  return redemption.successor ?? '';
}

async function denials(redis: RedisClient): Promise<string[]> {
  const admin = await everything(redis);
  const nodes = admin instanceof Redis ? [admin] : admin.nodes('master');
  const logs = await Promise.all(nodes.map((node) => node.acl('LOG')));
  await Promise.all(nodes.map((node) => node.acl('LOG', 'RESET')));
  return logs.flat().map((entry) => JSON.stringify(entry));
}

describe.each([
  ['one Redis with an ACL file', () => single],
  ['a Redis Cluster', () => clustered],
])('the Redis access rules on %s', (_name, url) => {
  it.each(services)('allow %s every command that it needs', async (service) => {
    const redis = await lab.client(as(service, url()));
    await assertSafeRedis(redis, { isProduction: false });
    await redis.ping();
    if (service !== 'operator') await countRefusal(redis);
    await work[service](redis);
    expect(await denials(redis)).toEqual([]);
  });

  it('are required in production, where a service refuses a user that may read every key', async () => {
    const redis = await lab.client(as('admin', url()));
    await expect(assertSafeRedis(redis, { isProduction: true, prefix })).rejects.toThrow(
      'this user may read the keys of other services',
    );
  });

  it.each(services)('are accepted in production for %s', async (service) => {
    const redis = await lab.client(as(service, url()));
    const options = { isProduction: true, acceptsVolatile: true, prefix };
    await expect(assertSafeRedis(redis, options)).resolves.toBeUndefined();
    // The check reads a key that no service may read.
    expect(await denials(redis)).toHaveLength(redis instanceof Redis ? 1 : redis.nodes('all').length);
  });
});

describe('an ACL file', () => {
  it('lets Redis restart with its append-only file, and requires clients to authenticate', async () => {
    const rules = ['--appendfsync', 'always', '--aclfile', await aclFile()];
    const server = await lab.server('--maxmemory-policy', 'noeviction', ...rules);
    const admin = await lab.client(as('admin', server.url));
    const api = createTickets(await lab.client(as('launch-api', server.url)), prefix);
    await issued(api.issue('launch-token', { ...aTicket(randomUUID()), events: [anEvent()] }));
    const keys = (await admin.keys('*')).toSorted();
    expect(keys.length).toBeGreaterThan(3);
    await server.kill();
    await server.restart();
    const again = await lab.client(as('admin', server.url));
    expect((await again.keys('*')).toSorted()).toEqual(keys);
    const stranger = new Redis(server.url, { lazyConnect: true, retryStrategy: () => null });
    stranger.on('error', () => undefined);
    await expect(stranger.ping()).rejects.toThrow('NOAUTH');
    stranger.disconnect();
  });

  it.each([
    ['a prefix with a space', () => redisAclFile(users, 'a prefix:')],
    ['a prefix with a pattern', () => redisAclFile(users, '*')],
    ['a name with a space', () => redisAclFile([{ service: 'ordering', name: 'a b', password: 'x' }])],
    ['the default user', () => redisAclFile([{ service: 'ordering', name: 'default', password: 'x' }])],
    [
      'one user for two services',
      () => redisAclFile(services.map((service) => ({ service, name: 'same', password: 'x' }))),
    ],
  ])('is not created with %s', (_name, write) => {
    expect(write).toThrow(TypeError);
  });

  it('contains no password', () => {
    expect(redisAclFile(users)).not.toContain('password-of');
  });
});
