import { randomBytes, randomUUID } from 'node:crypto';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { createSealers } from '@clinical-launch/crypto/sealing-purposes';
import { readSharedEventKeys } from '@clinical-launch/process/event-keys';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import { openRedisParts, type RedisParts } from '@clinical-launch/process/redis-parts';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { fixedRegistry } from '@clinical-launch/trust/registry-file';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCatalogues } from '../src/catalogue-file.ts';
import { ordering } from '../src/service.ts';
import { aLaunchContext, publicUrl } from './launches.ts';

const prefix = `test-${randomUUID()}:`;
const clock = new TestClock();
const dependencies = createTestDependencies(clock);
let redis: RedisClient;
let parts: RedisParts;
let storage: Storage;
let server: Awaited<ReturnType<typeof serveForTest>>;
beforeAll(async () => {
  const REDIS_URL = process.env.TEST_REDIS_URL;
  if (REDIS_URL === undefined) throw new Error('TEST_REDIS_URL is not set: run the tests by `npm test`');
  const sealers = createSealers([{ id: 'k1', key: randomBytes(32) }]);
  redis = await connectRedis(REDIS_URL);
  storage = await openTestStorage();
  parts = await openRedisParts({
    environment: { REDIS_URL, REDIS_PREFIX: prefix },
    clock,
    logger: dependencies.logger,
    eventKeys: readSharedEventKeys({}),
    name: 'test',
    sealers,
  });
  const config = {
    publicUrl,
    catalogues: readCatalogues(),
    timeZone: 'Europe/London',
    pseudonyms: readPatientPseudonyms({}),
  };
  const registry = fixedRegistry({ realms: [] });
  const { tickets } = parts;
  const service = await ordering(config, { ...dependencies, registry, tickets, storage, sealers });
  server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
});
afterAll(async () => {
  await server.stop();
  await parts.stop();
  await storage.close();
  redis.disconnect();
});

/** Issues a launch session in Redis. Returns the key of its record, and a function that opens its pages. */
async function openSession(context: LaunchContext) {
  const before = new Set(await redis.keys(`${prefix}*:ticket:*`));
  const issued = await parts.tickets.issue('launch-session', {
    context,
    ttlSeconds: 60,
    correlationId: context.launchId,
    events: [],
  });
  if (issued.outcome !== 'issued') throw new Error(issued.outcome);
  const [key = ''] = (await redis.keys(`${prefix}*:ticket:*`)).filter((name) => !before.has(name));
  const open = (launchId: string) =>
    fetch(`${server.url}/oltr/${launchId}/`, {
      headers: { cookie: `__Secure-launch-session=${issued.ticket}` },
    });
  return { key, open, launchId: context.launchId };
}

describe('a session whose record was changed in Redis', () => {
  it('is refused if the sealed context of another launch was copied into its record', async () => {
    const [mine, victim] = [await openSession(aLaunchContext()), await openSession(aLaunchContext())];
    const before = await mine.open(mine.launchId);
    expect([before.status, (await before.text()).includes('app-patient')]).toEqual([200, true]);
    await redis.hset(mine.key, 'context', (await redis.hget(victim.key, 'context')) ?? '');
    for (const launchId of [victim.launchId, mine.launchId]) {
      const response = await mine.open(launchId);
      expect([response.status, (await response.text()).includes('app-patient')]).toEqual([401, false]);
    }
    expect((await victim.open(victim.launchId)).status).toBe(200);
    expect(dependencies.lines.some((line) => line.includes('was not sealed for it'))).toBe(true);
  });
});
