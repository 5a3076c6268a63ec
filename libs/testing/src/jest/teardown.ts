import { setTimeout as delay } from 'node:timers/promises';
import { remainingProcesses } from './run-folder.ts';
import { stopServers } from './setup.ts';

const endsWithinMs = 5000;

/**
 * Jest's `globalTeardown`: ends the servers of the run.
 * @throws Error that names the processes that tests started and did not end
 */
export default async function tearDown(): Promise<void> {
  await stopServers();
  for (const deadline = Date.now() + endsWithinMs; remainingProcesses().length > 0; await delay(50)) {
    if (Date.now() > deadline)
      throw new Error(`Tests left processes behind:\n${remainingProcesses().join('\n')}`);
  }
}
