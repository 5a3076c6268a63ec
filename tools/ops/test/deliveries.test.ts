import { randomUUID } from 'node:crypto';
import { createDocuments, openSchema } from '@clinical-launch/order-renderer/store/documents';
import { replayDeliveries } from '@clinical-launch/order-renderer/store/operator-deliveries';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  answering,
  type CallbackReceiver,
  startReceiver,
} from '../../../services/order-renderer/test/callback-receiver.ts';
import {
  aRegistry,
  aSecret,
  type DeliveringPlatform,
  sealed,
  startDeliveringPlatform,
} from '../../../services/order-renderer/test/delivering-platform.ts';
import { runOps, runOpsHere } from './run-ops.ts';

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let storage: Storage;
let receiver: CallbackReceiver;
let platform: DeliveringPlatform;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  storage = await openPostgresStorage({ url: testDatabase.url, applicationName: 'renderer' });
  receiver = await startReceiver();
  const registry = aRegistry({ 'pms-demo': { url: receiver.url, secrets: [sealed(aSecret())] } });
  platform = await startDeliveringPlatform({ registry, storage });
});
afterAll(async () => {
  await platform.stop();
  await storage.close();
  await receiver.stop();
  await testDatabase.drop();
});
beforeEach(async () => {
  receiver.behave(answering(204));
  const database = await openSchema(storage);
  await replayDeliveries(database, platform.clock.now());
  const { deliveries } = createDocuments(database);
  await until(async () => (await deliveries.level(0)).pending === 0);
});

/** Runs the command while the service is running. */
const run = (...args: string[]) => runOpsHere(['deliveries', ...args], { DATABASE_URL: testDatabase.url });

function messageIdOf(reported: readonly [string, object] | undefined): string {
  const data: object = reported?.[1] ?? {};
  return 'messageId' in data ? String(data.messageId) : '';
}

/** Returns an order whose delivery is dead, and the id of its message. */
async function aDeadDelivery() {
  receiver.behave(answering(410));
  const order = await platform.order();
  const [failure] = await platform.awaitDeliveryEvents(order.launchId, 1);
  return { ...order, messageId: messageIdOf(failure) };
}

describe('a dead delivery', () => {
  it('is listed without its document', async () => {
    const { guid, launchId, messageId } = await aDeadDelivery();
    const { code, output } = await runOps(['deliveries', 'list'], { DATABASE_URL: testDatabase.url });
    expect(code).toBe(0);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(output)).toEqual({
      messageId,
      state: 'dead',
      orderGuid: guid,
      orderVersion: 1,
      launchId,
      issuer: 'http://localhost/idp/demo/v2.0',
      clientId: 'pms-demo',
      attempts: 1,
      waitingSince: new Date(platform.clock.now()).toISOString(),
      lastAttemptAt: new Date(platform.clock.now()).toISOString(),
      nextAttemptAt: null,
      lastStatus: 410,
      lastFailure: 'gone',
    });
  });

  it('is replayed by its id with the same message id, and its document arrives', async () => {
    const [first, second] = [await aDeadDelivery(), await aDeadDelivery()];
    receiver.behave(answering(204));
    expect(await run('replay', first.messageId)).toEqual({
      code: 0,
      output: `${first.messageId}\n`,
      errors: '',
    });
    const [dead, replayed] = await receiver.receives(2, first.guid);
    expect(replayed?.headers['webhook-id']).toBe(dead?.headers['webhook-id']);
    const [, delivered] = await platform.awaitDeliveryEvents(first.launchId, 2);
    expect(delivered).toEqual(['order.document.delivered.v1', expect.objectContaining({ attempts: 1 })]);
    expect((await run('list')).output).toContain(second.messageId);
    expect((await run('list')).output).not.toContain(first.messageId);
  });

  it('is replayed with all other dead deliveries by --all, and retried for another day', async () => {
    const dead = [await aDeadDelivery(), await aDeadDelivery()];
    receiver.behave(answering(503));
    const { code, output } = await run('replay', '--all');
    expect([code, output.trim().split('\n').toSorted()]).toEqual([
      0,
      dead.map(({ messageId }) => messageId).toSorted(),
    ]);
    for (const { launchId } of dead) {
      const [, failure] = await platform.awaitDeliveryEvents(launchId, 2);
      expect(failure?.[1]).toMatchObject({ attempts: 1, isFinal: false, status: 503 });
    }
    expect(await run('list')).toEqual({ code: 0, output: '', errors: '0 dead, 2 pending\n' });
    expect((await run('list', 'pending')).output.trim().split('\n')).toHaveLength(2);
    receiver.behave(answering(204));
    platform.clock.advance({ seconds: 5 });
    for (const { guid } of dead) await receiver.receives(3, guid);
  });

  it('cannot be replayed if a newer document of its order has replaced it', async () => {
    const { guid, messageId } = await aDeadDelivery();
    receiver.behave(answering(204));
    const { launchId } = await platform.order({ guid, orderVersion: 2 });
    await platform.awaitDeliveryEvents(launchId, 1);
    expect(await run('replay', messageId)).toEqual({
      code: 1,
      output: '',
      errors: `No delivery ${messageId} can be replayed\n`,
    });
  });
});

describe('a completed delivery', () => {
  it('can be replayed by its id', async () => {
    const { guid, launchId } = await platform.order();
    const [delivered] = await platform.awaitDeliveryEvents(launchId, 1);
    const messageId = messageIdOf(delivered);
    expect((await run('list', 'delivered')).output).toContain(messageId);
    expect((await run('replay', messageId)).code).toBe(0);
    expect(await receiver.receives(2, guid)).toHaveLength(2);
  });
});

describe('the backlog of deliveries', () => {
  it('counts pending and dead deliveries, and contains the age of the oldest pending delivery', async () => {
    const { deliveries } = createDocuments(await openSchema(storage));
    const level = () => deliveries.level(platform.clock.now());
    expect(await level()).toEqual({ pending: 0, dead: 0, oldestAgeSeconds: 0 });
    await aDeadDelivery();
    receiver.behave(answering(503));
    const { launchId } = await platform.order();
    await platform.awaitDeliveryEvents(launchId, 1);
    platform.clock.advance({ seconds: 2 });
    await until(async () => (await level()).pending === 1);
    expect(await level()).toEqual({ pending: 1, dead: 1, oldestAgeSeconds: 2 });
    receiver.behave(answering(204));
    platform.clock.advance({ seconds: 3 });
    await platform.awaitDeliveryEvents(launchId, 2);
  });
});

describe('an invalid command line of deliveries', () => {
  it.each([
    [[], 'Usage:'],
    [['list', 'lost'], '<state> must be one of'],
    [['list', 'dead', 'x'], 'too many arguments'],
    [['replay'], 'Give --all, or message ids'],
    [['replay', '1; drop'], '<message id> must be a message id'],
    [['replay', '--all', 'x'], '<message id> must be a message id'],
    [['burn'], "unknown command 'burn'"],
  ])('is answered with its fault: %j', async (args, fault) => {
    expect(await run(...args)).toEqual({ code: 2, output: '', errors: expect.stringContaining(fault) });
  });

  it('is answered with the unknown delivery id', async () => {
    const id = randomUUID();
    expect(await run('replay', id)).toMatchObject({ code: 1, errors: expect.stringContaining(id) });
  });
});
