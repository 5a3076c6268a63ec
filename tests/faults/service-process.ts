import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { waitLimitMs } from '@clinical-launch/testing/until';
import type { Replica, ServiceName } from './edge.ts';
import { sendRequest } from './send-request.ts';

/** One replica of one of our services, as its own process from its `main.ts`. */
export type ServiceProcess = Replica & {
  /** Starts it and resolves when it is ready. */
  start(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
  /** SIGTERM; resolves with its exit code when it is gone. */
  terminate(): Promise<number | null>;
};

type ServiceProcessOptions = Replica & {
  readonly environment: Readonly<Record<string, string>>;
  /** Takes what it says, over all of its lives. */
  readonly logFile: string;
};

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Ten services run beside each other; each would let its garbage grow by 50 MB. */
const smallYoungGeneration = '--max-semi-space-size=2';
const endsWithItsTest = new URL('ends-with-its-test.ts', import.meta.url).href;

/**
 * Fills V8's code cache of a service as the images have it, by a start that ends at the first missing
 * setting: a process that is killed leaves none behind.
 */
export async function fillCodeCache(service: ServiceName, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [`${root}services/${service}/src/main.ts`], {
    env: environment,
    stdio: 'ignore',
  });
  await once(child, 'exit');
}

/** Describes a process; nothing runs before `start`. */
export function createServiceProcess({
  environment,
  logFile,
  ...replica
}: ServiceProcessOptions): ServiceProcess {
  const { service, url, adminUrl } = replica;
  let running: ChildProcess | undefined;

  const end = async (signal: NodeJS.Signals) => {
    const child = running;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    ...replica,
    async start() {
      const startedAt = performance.now();
      const log = openSync(logFile, 'a');
      const child = spawn(
        process.execPath,
        [smallYoungGeneration, '--import', endsWithItsTest, `${root}services/${service}/src/main.ts`],
        {
          env: { PORT: new URL(url).port, ADMIN_PORT: new URL(adminUrl).port, ...environment },
          stdio: ['pipe', log, log],
        },
      );
      closeSync(log);
      running = child;
      while (!(await isReady(adminUrl))) {
        const isTooLate = performance.now() - startedAt > waitLimitMs;
        if (child.exitCode !== null || child.signalCode !== null || isTooLate) {
          throw new Error(`${service} did not start:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
        }
        await delay(10);
      }
    },
    kill: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
  };
}

/** Whether `/readyz` says that the process serves and its parts answer. */
export async function isReady(adminUrl: string): Promise<boolean> {
  const ready = await sendRequest({ url: `${adminUrl}/readyz`, timeoutMs: 2000 }).catch(() => undefined);
  return ready?.status === 200;
}
