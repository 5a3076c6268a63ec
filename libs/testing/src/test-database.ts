import { randomBytes } from 'node:crypto';
import pg from 'pg';

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
