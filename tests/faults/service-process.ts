import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { waitLimitMs } from '@clinical-launch/testing/until';
import type { Replica, ServiceName } from './edge.ts';
import { sendRequest } from './send-request.ts';

/** One replica of a service, run as a separate process from its `main.ts`. */
export type ServiceProcess = Replica & {
  /** Starts the process, and resolves when it is ready. */
  start(): Promise<void>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** Returns the resident memory in MiB. */
  memory(): number;
};

type ServiceProcessOptions = Replica & {
  readonly environment: Readonly<Record<string, string>>;
  /** Receives the output of the process, across restarts. */
  readonly logFile: string;
};

const root = fileURLToPath(new URL('../../', import.meta.url));
/**
 * Limits V8's young generation. Up to eleven processes run at the same time, and each would use 50 MB more.
 */
const smallYoungGeneration = '--max-semi-space-size=2';
const endsWithItsTest = new URL('ends-with-its-test.ts', import.meta.url).href;

/**
 * Fills V8's code cache for a service, as the build of the image does. The process exits by itself at the
 * first missing setting, because a killed process would not write the cache.
 */
export async function fillCodeCache(service: ServiceName, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [`${root}services/${service}/src/main.ts`], {
    env: environment,
    stdio: 'ignore',
  });
  await once(child, 'exit');
}

/** Creates a process without starting it. */
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
    memory: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(running?.pid)])) / 1024,
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

/** Returns true if `/readyz` answers 200. */
export async function isReady(adminUrl: string): Promise<boolean> {
  const ready = await sendRequest({ url: `${adminUrl}/readyz`, timeoutMs: 2000 }).catch(() => undefined);
  return ready?.status === 200;
}
