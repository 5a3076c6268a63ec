import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answering, type CallbackReceiver, startReceiver } from './callback-receiver.ts';
import {
  aRegistry,
  aSecret,
  type DeliveringPlatform,
  sealed,
  startDeliveringPlatform,
} from './delivering-platform.ts';

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let receiver: CallbackReceiver;
let clock: TestClock;
const replicas: { platform: DeliveringPlatform; storage: Storage }[] = [];

beforeEach(async () => {
  // Each test has its own database, so that deliveries of other tests do not come first.
  testDatabase = await createTestDatabase();
  receiver = await startReceiver();
  clock = new TestClock();
});
afterEach(async () => {
  for (const { platform, storage } of replicas.splice(0)) {
    await platform.stop();
    await storage.close();
  }
  await receiver.stop();
  await testDatabase.drop();
});

/** Starts a replica with its own connections, on the shared database and clock. */
async function startReplica(clients = ['pms-demo']): Promise<DeliveringPlatform> {
  const storage = await openPostgresStorage({ url: testDatabase.url, applicationName: 'replica' });
  const callback = { url: receiver.url, secrets: [sealed(aSecret())] };
  const registry = aRegistry(Object.fromEntries(clients.map((clientId) => [clientId, callback])));
  const platform = await startDeliveringPlatform({ registry, storage, clock });
  replicas.push({ platform, storage });
  return platform;
}

describe('replicas on one database', () => {
  it('deliver every document once', async () => {
    const clients = Array.from({ length: 20 }, (_one, index) => `pms-${index}`);
    const all = await Promise.all([startReplica(clients), startReplica(clients), startReplica(clients)]);
    const orders = await Promise.all(
      all.flatMap((replica) =>
        Array.from({ length: 40 }, (_one, index) => replica.order({ clientId: `pms-${index % 20}` })),
      ),
    );
    for (const { guid } of orders) await receiver.receives(1, guid);
    await until(() => all.flatMap(({ published }) => published.filter(isDelivered)).length >= 120);
    expect(receiver.received).toHaveLength(120);
  });

  it('never send an older document of an order after a newer document, even if some attempts fail', async () => {
    const [one, other] = await Promise.all([startReplica(), startReplica()]);
    const all = [one, other];
    const guid = randomUUID();
    const versions = [3, 1, 2, 5, 4, 8, 6, 7, 10, 9];
    receiver.behave(
      (_request, response, body) =>
        void setTimeout(() => response.writeHead(versionIn(body) % 3 === 0 ? 503 : 204).end(), 15),
    );
    await Promise.all(
      versions.map((orderVersion) => (orderVersion % 2 ? one : other).order({ guid, orderVersion })),
    );
    await until(() => {
      clock.advance({ seconds: 5 });
      return all.some(({ published }) => published.filter(isDelivered).length > 0 && lastVersion() === 10);
    });
    const sent = receiver.received.map(({ body }) => versionIn(body));
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
    expect(receiver.mostUnderWay()).toBe(1);
  });

  it('do not send a document that another replica is sending', async () => {
    const sending = await startReplica();
    receiver.behave(() => undefined);
    const { guid } = await sending.order();
    await receiver.receives(1, guid);
    const other = await startReplica();
    receiver.behave(answering(204));
    clock.advance({ seconds: 60 });
    const { guid: later } = await other.order();
    await receiver.receives(1, later);
    expect(await receiver.receives(1, guid)).toHaveLength(1);
  });
});

describe('a delivery interrupted by the end of its replica', () => {
  it('is repeated by another replica with the same message after the lease expires, if the replica was killed', async () => {
    receiver.behave(() => undefined);
    const guid = randomUUID();
    const script = fileURLToPath(new URL('delivering-replica.ts', import.meta.url));
    const child = fork(script, [testDatabase.url, receiver.url, guid]);
    await once(child, 'spawn');
    await until(() => receiver.received.length > 0);
    child.kill('SIGKILL');
    await once(child, 'exit');

    receiver.behave(answering(204));
    const heir = await startReplica();
    clock.advance({ seconds: 70 });
    const { guid: other } = await heir.order();
    await receiver.receives(1, other);
    expect(await receiver.receives(1, guid)).toHaveLength(1);
    clock.advance({ seconds: 6 });
    const [first, second] = await receiver.receives(2, guid);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    const isOurs = ({ data }: { data: object }) => 'orderGuid' in data && data.orderGuid === guid;
    await until(() => heir.published.some((event) => isDelivered(event) && isOurs(event)));
  });

  it('is repeated by another replica at once if the replica was stopped, and the interrupted attempt is not counted', async () => {
    const stopping = await startReplica();
    receiver.behave(() => undefined);
    const { guid, launchId } = await stopping.order();
    await receiver.receives(1, guid);
    const [own] = replicas.splice(0);
    await stopping.stop();
    await own?.storage.close();
    expect(stopping.deliveryStory(launchId)).toEqual([]);
    receiver.behave(answering(204));
    const heir = await startReplica();
    await receiver.receives(2, guid);
    expect(await heir.awaitDeliveryEvents(launchId, 1)).toEqual([
      ['order.document.delivered.v1', expect.objectContaining({ attempts: 1 })],
    ]);
  });

  it('continues with the next attempt of another replica if the replica was stopped between two attempts', async () => {
    receiver.behave(answering(503));
    const first = await startReplica();
    const { guid, launchId } = await first.order();
    await first.awaitDeliveryEvents(launchId, 1);
    const [own] = replicas.splice(0);
    await first.stop();
    await own?.storage.close();
    receiver.behave(answering(204));
    clock.advance({ seconds: 5 });
    const heir = await startReplica();
    expect(await receiver.receives(2, guid)).toHaveLength(2);
    expect(await heir.awaitDeliveryEvents(launchId, 1)).toEqual([
      ['order.document.delivered.v1', expect.objectContaining({ attempts: 2 })],
    ]);
  });
});

const isDelivered = ({ type }: { type: string }) => type === 'order.document.delivered.v1';

const versionIn = (body: string) =>
  (JSON.parse(body) as { data: { orderVersion: number } }).data.orderVersion;

const lastVersion = () => versionIn(receiver.received.at(-1)?.body ?? '{"data":{}}');
