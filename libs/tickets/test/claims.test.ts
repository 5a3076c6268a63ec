import { type RedisClient, RedisUnavailable, shardOfText } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { anIssue, aPrefix, sealers } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Claims } from '../src/claims.ts';
import { createInMemoryTickets } from '../src/in-memory-tickets.ts';
import { RedisClaims } from '../src/redis-claims.ts';
import { RedisTickets } from '../src/redis-tickets.ts';
import { createTicketKeys } from '../src/ticket-keys.ts';
import type { Tickets } from '../src/tickets.ts';

type ClaimsUnderTest = { readonly tickets: Tickets; readonly claims: Claims; stop(): Promise<void> };

const aClaim = (holder = 'OrderTest') => ({ name: `claim ${crypto.randomUUID()}`, holder, ttlSeconds: 60 });
const recorded = (claim: { name: string; holder: string }) => ({ ...claim, expiresAt: Date.now() + 60_000 });
const issue = (tickets: Tickets, claim: ReturnType<typeof aClaim>) =>
  tickets.issue('launch-token', anIssue({ claim }));

async function* pages(...claims: readonly ReturnType<typeof recorded>[]) {
  for (const claim of claims) yield [claim];
}

function describeClaims(name: string, create: () => Promise<ClaimsUnderTest>): void {
  describe(`claims (${name})`, () => {
    let under: ClaimsUnderTest;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(() => under.stop());

    it('are complete after a rebuild, which stores every recorded claim', async () => {
      const { tickets, claims } = under;
      const [one, other] = [aClaim(), aClaim()];
      expect(await claims.areComplete()).toBe(false);
      expect(await claims.rebuild(pages(recorded(one), recorded(other)))).toBe(true);
      expect(await claims.areComplete()).toBe(true);
      expect(await issue(tickets, one)).toEqual({ outcome: 'claimed' });
      expect(await issue(tickets, other)).toEqual({ outcome: 'claimed' });
      expect((await issue(tickets, aClaim())).outcome).toBe('issued');
    });

    it('keep their holder when `hold` restores them, so that another action can still share them', async () => {
      const { tickets, claims } = under;
      const claim = aClaim('OrderTest');
      await claims.hold([recorded(claim)]);
      const joining = { ...claim, holder: 'UpdateTest', joins: ['OrderTest'] };
      expect((await issue(tickets, joining)).outcome).toBe('issued');
    });

    it('are not overwritten by a recorded claim, and are not stored if they have expired', async () => {
      const { tickets, claims } = under;
      const [held, expired] = [aClaim('OrderTest'), aClaim()];
      await issue(tickets, held);
      await claims.hold([
        { ...recorded(held), holder: 'UpdateTest' },
        { ...recorded(expired), expiresAt: Date.now() - 1 },
      ]);
      const joining = { ...held, holder: 'UpdateTest', joins: ['OrderTest'] };
      expect((await issue(tickets, joining)).outcome).toBe('issued');
      expect((await issue(tickets, expired)).outcome).toBe('issued');
    });
  });
}

describeClaims('in memory', async () => {
  const stored = createInMemoryTickets({
    clock: { now: () => Date.now() },
    outbox: { append: async () => undefined },
  });
  return { ...stored, stop: async () => undefined };
});

describeClaims('Redis', async () => {
  const lab = createRedisLab();
  const place = { redis: await lab.anyClient(), prefix: aPrefix() };
  return {
    tickets: new RedisTickets({ ...place, sealers }),
    claims: new RedisClaims(place),
    stop: () => lab.stop(),
  };
});

describe('a ticket store whose Redis lost its data', () => {
  const lab = createRedisLab();
  let redis: RedisClient;
  beforeAll(async () => {
    redis = await lab.client((await lab.server()).url);
  });
  afterAll(() => lab.stop());

  const connect = () => {
    const place = { redis, prefix: aPrefix() };
    return {
      claims: new RedisClaims(place),
      tickets: new RedisTickets({ ...place, sealers, requiresCompleteClaims: true }),
    };
  };

  it('issues tickets with a claim only after a rebuild, but always issues other tickets', async () => {
    const { claims, tickets } = connect();
    const claim = aClaim();
    await claims.rebuild(pages());
    expect((await issue(tickets, claim)).outcome).toBe('issued');
    await redis.flushall();
    await expect(issue(tickets, claim)).rejects.toThrow(RedisUnavailable);
    expect((await tickets.issue('launch-identifier', anIssue())).outcome).toBe('issued');
    await claims.rebuild(pages(recorded(claim)));
    expect(await issue(tickets, claim)).toEqual({ outcome: 'claimed' });
  });

  it('has incomplete claims if Redis loses its data again during a rebuild', async () => {
    const { claims } = connect();
    const losing = async function* () {
      yield [recorded(aClaim())];
      await redis.flushall();
      yield [recorded(aClaim())];
    };
    expect(await claims.rebuild(losing())).toBe(false);
    expect(await claims.areComplete()).toBe(false);
  });

  it('can be rebuilt by two replicas at once', async () => {
    const { claims } = connect();
    expect(await Promise.all([claims.rebuild(pages()), claims.rebuild(pages())])).toEqual([true, true]);
  });
});

describe('the claims in Redis', () => {
  const lab = createRedisLab();
  let redis: RedisClient;
  beforeAll(async () => {
    redis = await lab.client((await lab.server()).url);
  });
  afterAll(() => lab.stop());

  const connect = () => {
    const prefix = aPrefix();
    const place = { redis, prefix };
    return {
      prefix,
      claims: new RedisClaims(place),
      tickets: new RedisTickets({ ...place, sealers, requiresCompleteClaims: true }),
      keyOf: (name: string) => createTicketKeys(prefix).claim(shardOfText(name), name),
    };
  };
  const inventClaims = (count: number, expiresAt: number) =>
    Array.from({ length: count }, () => ({ ...recorded(aClaim()), expiresAt }));

  it('are removed after their expiry when a claim is added to their hash', async () => {
    const { claims, keyOf } = connect();
    const claim = recorded(aClaim());
    const { claims: hash } = keyOf(claim.name);
    const expired = Array.from({ length: 15 }, (_, index) => [`an expired claim ${index}`, Buffer.alloc(6)]);
    await redis.hset(hash, ...expired.flat());
    await claims.hold([claim]);
    expect(await redis.hlen(hash)).toBe(1);
  });

  it('are stored in the compact listpack encoding', async () => {
    const { prefix, claims } = connect();
    await claims.hold(inventClaims(500, Date.now() + 60_000));
    const [some = ''] = await redis.keys(`${prefix}*:claims:*`);
    expect(await redis.object('ENCODING', some)).toMatch(/^(?:listpack|ziplist)$/);
  });

  it('expire with the last claim of their hash, in whatever order they were stored', async () => {
    const { claims, keyOf } = connect();
    const [name, neighbour] = namesOfOneHash((each) => keyOf(each).claims);
    const expiresAt = Date.now() + 60_000;
    await claims.hold([{ name, holder: 'OrderTest', expiresAt }]);
    await claims.hold([{ name: neighbour, holder: 'OrderTest', expiresAt: expiresAt - 30_000 }]);
    const { claims: hash } = keyOf(name);
    expect(await redis.hlen(hash)).toBe(2);
    expect(await redis.pexpiretime(hash)).toBe(expiresAt);
  });

  it('leave no hash once all of its claims have expired', async () => {
    const { prefix, claims } = connect();
    await claims.hold(inventClaims(50, Date.now() + 200));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await redis.keys(`${prefix}*:claims:*`)).toEqual([]);
  });
});

/** Returns two names whose claims are in the same hash. */
function namesOfOneHash(hashOf: (name: string) => string): readonly [string, string] {
  const names = new Map<string, string>();
  for (let number = 0; ; number += 1) {
    const name = `claim ${number}`;
    const earlier = names.get(hashOf(name));
    if (earlier !== undefined) return [earlier, name];
    names.set(hashOf(name), name);
  }
}
