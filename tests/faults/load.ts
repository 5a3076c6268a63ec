import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ledger, readLedger } from './ledger.ts';
import type { LoadPlan, LoadSays } from './load-process.ts';

export type Load = {
  /** Resolves when `count` more launches have been opened. */
  opened(count: number): Promise<void>;
};

const program = fileURLToPath(new URL('load-process.ts', import.meta.url));

type LoadOptions = Omit<LoadPlan, 'journalPath' | 'name'> & { readonly directory: string };

/** Runs an action under load, and resolves with the clients' records once every launch has ended. */
export async function underLoad(
  { directory, ...options }: LoadOptions,
  act: (load: Load) => Promise<void>,
): Promise<Ledger> {
  const name = randomUUID();
  const journalPath = join(directory, `load-${name}.jsonl`);
  // Jest's settings for its own processes must not apply to the process of the load.
  const { NODE_OPTIONS: _, JEST_WORKER_ID: __, ...env } = process.env;
  const child = fork(program, { execArgv: [], env });
  try {
    const exited = once(child, 'exit');
    const { promise: failed, reject: fail } = Promise.withResolvers<never>();
    // `opened` receives the error. Without this handler, the rejection would end the test run.
    failed.catch(() => undefined);
    let openedInAll = 0;
    child.on('message', (said: LoadSays) => {
      if ('failed' in said) fail(new Error(`The load failed: ${said.failed}`));
      else openedInAll = said.opened;
    });
    child.once('exit', () => fail(new Error('The load has ended')));
    child.send({ ...options, journalPath, name } satisfies LoadPlan);
    await act({
      async opened(count) {
        const wanted = openedInAll + count;
        while (openedInAll < wanted) await Promise.race([once(child, 'message'), failed]);
      },
    });
    child.send('stop');
    await exited;
    return readLedger(journalPath);
  } finally {
    child.kill('SIGKILL');
  }
}
