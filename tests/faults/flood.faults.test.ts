import { setTimeout as delay } from 'node:timers/promises';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { waitLimitMs } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectBalance, printLine, reportBalance } from './balance.ts';
import { openBooks } from './books.ts';
import { floodWithLaunches, orderAtOnce, type Statuses, stallWithLaunches } from './flood.ts';
import { sendRequest } from './send-request.ts';
import { inPostgres, size } from './size.ts';
import { type System, startSystem } from './system.ts';

let system: System;
let redis: RedisClient;
beforeAll(async () => {
  system = await startSystem({
    services: [
      'identity-provider',
      'launch-api',
      'launch-gateway',
      'ordering',
      'order-renderer',
      'audit-trail',
    ],
    redisSettings: ['--maxmemory', '64mb'],
    environment: { TRUSTED_PROXIES: '1' },
  });
  redis = await connectRedis(system.redis.url);
});
afterAll(async () => {
  redis.disconnect();
  await system.stop();
});

const total = (statuses: Statuses) => Object.values(statuses).reduce((sum, count) => sum + count, 0);

async function usedMegabytes(): Promise<number> {
  return Math.round(Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]) / 1e5) / 10;
}

/** Returns the sum of a refusal counter over all services. */
async function counted(name: 'limited' | 'dropped'): Promise<number> {
  const scrapes = system.processes.map(({ adminUrl }) => sendRequest({ url: `${adminUrl}/metrics` }));
  const lines = (await Promise.all(scrapes)).flatMap(({ body }) => body.split('\n'));
  const values = lines.filter((line) => line.startsWith(`clinical_launch_refusals_${name}_total`));
  return values.reduce((sum, line) => sum + Number(/ (\d+)(?: \d+)?$/.exec(line)?.[1]), 0);
}

const auditedOf = (type: string): Promise<number> =>
  inPostgres(system, async (client) => {
    const { rows } = await client.query<{ count: string }>(
      'select count(*) from audit_trail.audit_event where type = $1',
      [type],
    );
    return Number(rows[0]?.count);
  });

describe('a flood of unauthenticated requests, with RabbitMQ stopped and 64 MB of Redis', () => {
  it('does not prevent the launches of a registered client, or the storage of their events', async () => {
    await system.rabbitMq.kill();
    const before = await usedMegabytes();
    const { strangers, client } = await floodWithLaunches(system, size.floodMs);
    const after = await usedMegabytes();
    const waiting = await new RedisOutbox({ redis, stream: 'refused' }).depth();
    printLine(
      `flood of ${size.floodMs / 1000} s: ${total(strangers)} requests of strangers ${JSON.stringify(strangers)}; ` +
        `answered 429 by address ${await counted('limited')}, events waiting ${waiting}, dropped ${await counted('dropped')}; ` +
        `Redis ${before} MB before, ${after} MB after; client ${JSON.stringify(client)}`,
    );
    const launches = total(client.token);
    expect(launches).toBeGreaterThan(0);
    expect(client).toEqual({ token: { 200: launches }, issue: { 200: launches }, redeem: { 200: launches } });
    expect(strangers[429]).toBeGreaterThan(0);
    expect(Object.keys(strangers).filter((status) => Number(status) >= 500)).toEqual([]);
    expect(waiting).toBeLessThanOrEqual(16_000);

    await system.rabbitMq.restart();
    for (const giveUpAt = Date.now() + waitLimitMs; ; await delay(200)) {
      const audited = await auditedOf('launch.token.redeemed.v1');
      if (audited === launches && (await new RedisOutbox({ redis }).depth()) === 0) break;
      if (Date.now() > giveUpAt) throw new Error(`${audited} of ${launches} launches are audited`);
    }
    expect(await auditedOf('access.token.issued.v1')).toBe(launches);
    expect(await auditedOf('launch.url.issued.v1')).toBe(launches);
  });
});

describe('4,000 connections that send almost a whole body', () => {
  it('stay below the memory of a Pod, and do not prevent the launches of a registered client', async () => {
    const { strangers, client, open, megabytes } = await stallWithLaunches(system, size.floodMs);
    printLine(
      `4,000 stalled bodies for ${size.floodMs / 1000} s: ${open} open at the end, answers ${JSON.stringify(strangers)}, ` +
        `at most ${megabytes.join(' and ')} MiB; client ${JSON.stringify(client)}`,
    );
    const launches = total(client.token);
    expect(launches).toBeGreaterThan(0);
    expect(client).toEqual({ token: { 200: launches }, issue: { 200: launches }, redeem: { 200: launches } });
    expect(strangers[503]).toBeGreaterThan(0);
    expect(Math.max(...megabytes)).toBeLessThan(384);
  });
});

describe('more users than the machine can serve, who all order at the same time', () => {
  it('receive 503 with Retry-After at most, lose no launch and no order, and are then served as usual', async () => {
    const open = await openBooks(system);
    const ledger = await orderAtOnce(system, size.usersAtOnce);
    const books = await open.close();
    reportBalance(`${size.usersAtOnce} users at once`, ledger, books);
    // 503 with Retry-After is repeated. Any other answer than the expected one, such as 500 or 409, is a fault.
    expectBalance(ledger, books);
    expect(ledger.submitted.size).toBe(ledger.redeemed.size);

    const { answers } = await orderAtOnce(system, 1);
    expect(answers.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
  });
});
