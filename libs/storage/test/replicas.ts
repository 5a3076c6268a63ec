import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Outcome = { readonly ran: string[]; readonly rows: number };

/**
 * Starts processes and waits until they have loaded their modules. `migrate` makes all of them open the same
 * schema at once.
 */
export async function startReplicas(count: number, url: string) {
  const script = fileURLToPath(new URL('replica.ts', import.meta.url));
  const processes = Array.from({ length: count }, () => fork(script, [url]));
  await Promise.all(processes.map(nextMessage));
  return {
    async migrate(): Promise<Outcome[]> {
      const outcomes = processes.map(nextMessage);
      for (const process of processes) process.send('go');
      return (await Promise.all(outcomes)) as Outcome[];
    },
  };
}

/** Waits for a message of a process. @throws Error if the process exits first */
async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]: number[]) => {
    throw new Error(`A replica exited with code ${code}`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
  return message;
}
