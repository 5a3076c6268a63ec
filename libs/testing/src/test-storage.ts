import { randomBytes } from 'node:crypto';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import pg from 'pg';
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

/**
 * Creates an empty database on the server of `TEST_DATABASE_URL`. `drop` removes it and closes its
 * connections.
 * @throws Error when `TEST_DATABASE_URL` names no server. A test that needs a database is never skipped
 */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = process.env['TEST_DATABASE_URL'];
  if (serverUrl === undefined) throw new Error('TEST_DATABASE_URL is not set. Run the tests with `npm test`');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await command(serverUrl, `create database ${name} strategy file_copy`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => command(serverUrl, `drop database ${name} with (force)`),
  };
}

const command = (url: string, statement: string) =>
  connected(url, async (client) => void (await client.query(statement)));

async function connected(url: string, act: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
