import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDatabase } from './test-database.ts';
import { waitLimitMs } from './until.ts';

/**
 * Opens a separate storage for a test: an empty database on the server of `TEST_DATABASE_URL`. The database
 * is dropped when the storage is closed. The statement timeout is so long that no query of a busy machine
 * reaches it.
 * @param options.connectTimeoutMs milliseconds that a query waits for a connection
 */
export async function openTestStorage({ connectTimeoutMs = waitLimitMs } = {}): Promise<Storage> {
  const database = await createTestDatabase();
  const storage = await openPostgresStorage({
    url: database.url,
    applicationName: 'test',
    connectTimeoutMs,
    lockTimeoutMs: waitLimitMs,
    statementTimeoutMs: waitLimitMs,
  });
  return {
    ...storage,
    async close() {
      await storage.close();
      await database.drop();
    },
  };
}
