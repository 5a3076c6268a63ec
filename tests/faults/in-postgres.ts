import pg from 'pg';
import type { System } from './system.ts';

/**
 * Calls `work` with an administrator's connection to the platform's database, and resolves with its result.
 */
export async function inPostgres<Result>(
  { postgres }: Pick<System, 'postgres'>,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
