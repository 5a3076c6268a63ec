import pg from 'pg';
import type { System } from './system.ts';

const short = {
  name: 'short',
  outageMs: 4000,
  killRounds: 8,
  /**
   * Whether the test waits until the lease of a killed process ends after 75 seconds. If false, the test ends
   * the lease itself.
   */
  outwaitsLeases: false,
  racedTokens: 100,
  attemptsEach: 10,
  /** How long the PMS takes to answer a callback. */
  callbackMs: 0,
  /** The duration of the flood of unauthenticated requests. */
  floodMs: 5000,
  /** The number of users who order at the same time: about twice as many as two cores serve in time. */
  usersAtOnce: 400,
  /**
   * How long a process that is shutting down still accepts requests. The edge notices the shutdown sooner,
   * even on a busy machine.
   */
  shutdownDelayMs: 2500,
  launchesPerSecond: 12,
  /** The number of launches opened before the fault, and again after it. */
  launches: 20,
};

const long: typeof short = {
  name: 'long',
  outageMs: 20_000,
  killRounds: 100,
  outwaitsLeases: true,
  racedTokens: 1000,
  attemptsEach: 50,
  // The PMS answers so slowly that processes are killed during a callback. When the lease of the callback
  // ends after 75 seconds, another process sends it again.
  callbackMs: 100,
  floodMs: 60_000,
  usersAtOnce: 1000,
  shutdownDelayMs: 4000,
  launchesPerSecond: 25,
  launches: 200,
};

/** The sizes of the long form (`npm run test:faults`) or of the short form, which is part of `npm test`. */
export const size = process.env['FAULTS'] === 'long' ? long : short;

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
