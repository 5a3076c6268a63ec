import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { startRelay } from '@clinical-launch/events/relay';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import type { RedisClusterServers } from '@clinical-launch/testing/redis/redis-server';
import { anEvent, aPrefix } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { RedisOutbox } from '../src/redis-outbox.ts';
import type { RedisClient } from '../src/redis-scripts.ts';
import { wakeRelays } from '../src/redis-wakes.ts';

const anHourMs = 3_600_000;

/** Starts a relay that polls only when an append on another connection wakes it. */
async function startWokenRelay(relaying: RedisClient, appending: RedisClient) {
  const prefix = aPrefix();
  const outbox = new RedisOutbox({ redis: relaying, prefix });
  const sent: CloudEvent[] = [];
  const failures: unknown[] = [];
  const relay = startRelay({
    source: outbox,
    publish: async (written) => void sent.push(...written.map(({ event }) => event)),
    onFailure: (error) => void failures.push(error),
    everyMs: anHourMs,
  });
  let nudges = 0;
  const nudge = () => {
    nudges += 1;
    relay.nudge();
  };
  const stopListening = wakeRelays(relaying, [{ outbox, nudge }]);
  await until(() => nudges > 0);
  return {
    appending: new RedisOutbox({ redis: appending, prefix }),
    sent,
    failures,
    nudges: () => nudges,
    async stop() {
      await stopListening();
      await relay.stop();
    },
  };
}

const lab = createRedisLab();
let url: string;
let redis: RedisClient;
let cluster: Promise<RedisClusterServers>;
beforeAll(async () => {
  // The cluster needs two seconds to start. The other tests run in that time.
  cluster = lab.cluster();
  url = (await lab.server()).url;
  redis = await lab.client(url);
});
afterAll(() => lab.stop());

describe('an event appended to an outbox in Redis', () => {
  it('wakes the relay of another process', async () => {
    const woken = await startWokenRelay(redis, await lab.client(url));
    for (let count = 1; count <= 20; count += 1) {
      await woken.appending.append([anEvent()]);
      await until(() => woken.sent.length === count);
    }
    await woken.stop();
  });

  it('wakes the relays only if its shard was empty', async () => {
    const prefix = aPrefix();
    const outbox = new RedisOutbox({ redis, prefix });
    const listener = await lab.client(url);
    const reported: string[] = [];
    listener.on('message', (_channel: string, shard: string) => void reported.push(shard));
    await listener.subscribe(outbox.channel);
    const [event, other] = [anEvent(), anEvent()];
    await outbox.append([event, other]);
    await outbox.append([{ ...other, correlationid: event.correlationid }]);
    while ((await outbox.drain(async () => undefined)) > 0);
    await outbox.append([{ ...event, correlationid: event.correlationid }]);
    await until(() => reported.length === 2);
    expect(new Set(reported).size).toBe(1);
  });

  it('is published even if it is appended while the relay drains the outbox', async () => {
    const woken = await startWokenRelay(redis, await lab.client(url));
    const appended = Array.from({ length: 3000 }, () => anEvent());
    const queue = appended.values();
    const append = async () => {
      for (const event of queue) await woken.appending.append([event]);
    };
    await Promise.all(Array.from({ length: 8 }, append));
    await until(() => woken.sent.length === appended.length);
    await woken.stop();
    expect(woken.failures).toEqual([]);
    expect(new Set(woken.sent.map(({ id }) => id))).toEqual(new Set(appended.map(({ id }) => id)));
  });

  it('is published even if the connection for wake messages was cut before the event was appended', async () => {
    const appending = await lab.client(url);
    const woken = await startWokenRelay(redis, appending);
    if (appending instanceof Cluster) throw new Error('A single Redis was expected, not a cluster');
    await appending.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await woken.appending.append([anEvent()]);
    await until(() => woken.sent.length === 1);
    await woken.stop();
    expect(woken.failures).toEqual([]);
  });

  it('wakes the relay from every node of a Redis Cluster', async () => {
    const { url: all } = await cluster;
    const woken = await startWokenRelay(await lab.client(all), await lab.client(all));
    const appended = Array.from({ length: 100 }, () => anEvent());
    await Promise.all(appended.map((event) => woken.appending.append([event])));
    await until(() => woken.sent.length === appended.length);
    await woken.stop();
    expect(woken.failures).toEqual([]);
  });
});
