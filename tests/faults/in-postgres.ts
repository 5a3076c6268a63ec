import pg from 'pg';
import type { System } from './system.ts';

/** Works in the database of the platform, as an administrator, and resolves with what comes out of it. */
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
