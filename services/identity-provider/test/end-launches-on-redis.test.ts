import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Storage } from '@clinical-launch/storage/storage';
import { type RedisServer, startRedisServer } from '@clinical-launch/testing/redis/redis-server';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { aPrefix, drainAll } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aLaunch, type RunningDesktop, realm, tokensOf } from './running-desktop.ts';
import { runDesktopOnRedis } from './running-desktop-on-redis.ts';
import { record } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let server: RedisServer;
let prefix: string;
let running: Awaited<ReturnType<typeof runDesktopOnRedis>>;
let token: string;
beforeAll(async () => {
  storage = await openTestStorage();
});
beforeEach(async () => {
  server = await startRedisServer('--maxmemory-policy', 'noeviction');
  prefix = aPrefix();
  running = await runDesktopOnRedis({ clock, storage, url: server.url, prefix });
  token = await running.hostToken();
});
afterEach(async () => {
  await running.stop();
  await server.stop();
});
afterAll(() => storage.close());

const { userERN: user } = aLaunch().user;

const end = (replica?: RunningDesktop['idp']) =>
  (replica ?? running.idp).get(`/${realm}/launches/_end`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ user }),
  });
const endedBy = async (response: Response) => [response.status, record(await response.json()).ended];

async function startLaunch(): Promise<string> {
  const response = await running.postLaunch(aLaunch(), { token });
  expect(response.status).toBe(201);
  return response.headers.get('x-correlation-id') ?? '';
}

/** Returns the GUIDs of the launches that ended according to these events, sorted. */
async function endedIn(events: Promise<readonly CloudEvent[]>): Promise<string[]> {
  const ended = (await events).filter(({ type }) => type === 'desktop.chain.revoked.v1');
  return ended.map(({ correlationid }) => correlationid).toSorted();
}

describe('POST /{seg1}/{seg2}/launches/_end on Redis', () => {
  it('ends launches of any replica, even if their events still wait in the outbox, but no launch that starts afterwards', async () => {
    const fields = await running.codeFor();
    const { accessToken } = tokensOf(await (await running.postToken(fields)).json());
    const waiting = await Promise.all(Array.from({ length: 20 }, startLaunch));
    const [other] = running.others;
    expect(await endedBy(await end(other))).toEqual([200, 21]);
    expect(await running.isActive(accessToken)).toBe(false);
    const later = await startLaunch();
    const drained = drainAll(running.outbox);
    const issued = (await drained).filter(({ type }) => type === 'desktop.launch.issued.v1');
    expect(issued.map(({ correlationid }) => correlationid)).toEqual(
      expect.arrayContaining([...waiting, later]),
    );
    const ended = await endedIn(drained);
    expect(ended).toHaveLength(21);
    expect(ended).toEqual(expect.arrayContaining(waiting));
    expect(ended).not.toContain(later);
    expect(await endedBy(await end())).toEqual([200, 1]);
  });

  it('stores no name of a user or practice with a launch', async () => {
    await startLaunch();
    await drainAll(running.outbox);
    const keys = await running.redis.keys(`${prefix}*`);
    const indexes = keys.filter((key) => key.includes(':labelled:'));
    expect(indexes).toHaveLength(3);
    const stored = await Promise.all(indexes.map((key) => running.redis.zrange(key, '0', '-1')));
    expect(JSON.stringify([keys, stored])).not.toMatch(/ern:|W92001/);
  });

  it('answers 503 and ends nothing while Redis is full, and ends the launches afterwards', async () => {
    const guid = await startLaunch();
    await drainAll(running.outbox);
    await running.redis.config('SET', 'maxmemory', '1');
    const refused = await end();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    await running.redis.config('SET', 'maxmemory', '0');
    expect(await drainAll(running.outbox)).toEqual([]);
    expect(await endedBy(await end())).toEqual([200, 1]);
    expect(await endedIn(drainAll(running.outbox))).toEqual([guid]);
  });

  it('ends every launch with one event, if Redis is killed during the request and the host repeats it', async () => {
    const launches: string[] = [];
    for (let batch = 0; batch < 15; batch += 1)
      launches.push(...(await Promise.all(Array.from({ length: 40 }, startLaunch))));
    const interrupted = end();
    await until(async () => (await running.redis.keys(`${prefix}*:revoked:*`)).length > 0);
    await server.kill();
    const { status } = await interrupted;
    // The request may have ended every launch before Redis was killed.
    expect([200, 503]).toContain(status);
    await server.restart();
    await until(async () => (await end()).status === 200);
    expect(await endedBy(await end())).toEqual([200, 0]);
    expect(await endedIn(drainAll(running.outbox))).toEqual(launches.toSorted());
  });
});
