import { startMeasuring } from '@clinical-launch/testing/measured';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { describe, expect, it } from '@jest/globals';
import { readEventKeys } from '../src/event-keys.ts';
import { openPostgres } from '../src/postgres-part.ts';
import { openRedisParts } from '../src/redis-parts.ts';

describe('the metrics of the servers of a process', () => {
  it('include the connections and the size of PostgreSQL, and the memory and keys of Redis', async () => {
    const measured = startMeasuring();
    const { logger } = createRecordedLogger();
    const database = await createTestDatabase();
    const environment = { DATABASE_URL: database.url, REDIS_URL: process.env.TEST_REDIS_URL };
    const options = { environment, clock: new TestClock(), logger, name: 'ordering' };
    const postgres = await openPostgres(options);
    const redis = await openRedisParts({ ...options, eventKeys: readEventKeys({}, 'ordering') });
    expect(await measured.read('db.client.connection.max')).toEqual({ ordering: expect.any(Number) });
    expect(Object.keys(await measured.read('db.client.connection.count'))).toEqual([
      'ordering idle',
      'ordering used',
    ]);
    for (const name of ['postgresql.backends', 'postgresql.connection.max', 'postgresql.db_size'])
      expect([name, await measured.read(name)]).toEqual([name, { '': expect.any(Number) }]);
    const { host } = new URL(process.env.TEST_REDIS_URL ?? '');
    for (const name of ['redis.memory.used', 'redis.maxmemory', 'redis.db.keys', 'redis.clients.connected'])
      expect([name, await measured.read(name)]).toEqual([name, { [host]: expect.any(Number) }]);
    await Promise.all([postgres.stop(), redis.stop()]);
    measured.stop();
    await database.drop();
  });
});
