import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '@clinical-launch/runtime/logged-error';
import { runFolder, serverFolder } from '../jest/run-folder.ts';
import { timeoutError, waitLimitMs } from '../until.ts';

/** A server for one test. The test may break the server. */
export type PrivateServer = {
  /** The address of the server, which stays the same until the server is stopped. */
  readonly url: string;
  /** Returns the process id of the server; absent for a container. */
  readonly processId?: () => number;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
  /** Kills the server (kill -9). Its data remains. */
  kill(): Promise<void>;
  /**
   * Restarts the server at the same address with the same data. If the server still runs, stops it properly
   * first.
   */
  restart(): Promise<void>;
};

/** A server program, and the options with which it runs. */
export type ServerProgram = {
  readonly url: string;
  readonly command: string;
  readonly arguments: readonly string[];
  /** The directory for all files of the server; removed at the end. */
  readonly directory: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** The user that runs the server, if not the user of this process. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly stopSignal: NodeJS.Signals;
  /** The signal that ends the server when its data is removed too; `stopSignal` by default. */
  readonly endSignal?: NodeJS.Signals;
  /** Resolves with true when the server accepts requests. Before that, rejects or resolves with false. */
  isUp(): Promise<boolean>;
};

const stoppedWithinMs = 10_000;

/**
 * A shell script that runs the program "$@" until standard input is closed, and first prints the program's
 * process id. When the test process ends for any reason, the kernel closes the pipe to standard input. So
 * neither the server nor its data outlive the test.
 */
const guard = `
exec 3<&0
"$@" 3<&- </dev/null >>"$GUARD_DIRECTORY/server.log" 2>&1 &
server=$!
echo "$server"
{ read -r _ <&3; : >"$GUARD_DIRECTORY/abandoned"; kill -KILL "$server"; } >/dev/null 2>&1 &
watcher=$!
wait "$server"
status=$?
kill -KILL "$watcher" 2>/dev/null
# Ends the processes that the server started: their environment contains the directory.
for file in $(grep -slazF "GUARD_DIRECTORY=$GUARD_DIRECTORY" /proc/[0-9]*/environ); do
  process=\${file#/proc/}
  process=\${process%/environ}
  [ "$process" = "$$" ] || kill -KILL "$process" 2>/dev/null
done
if [ -e "$GUARD_DIRECTORY/abandoned" ]; then
  sleep 1
  rm -rf "$GUARD_DIRECTORY"
fi
exit "$status"
`;

/**
 * Starts a server program and waits until it accepts requests.
 * @throws Error with the end of its log when it does not start
 */
export async function runPrivately(program: ServerProgram): Promise<PrivateServer> {
  let running = await startUntilUp(program);
  return {
    url: program.url,
    processId: () => running.pid,
    async stop() {
      await running.end(program.endSignal ?? program.stopSignal);
      rmSync(program.directory, { recursive: true, force: true });
    },
    kill: () => running.end('SIGKILL'),
    async restart() {
      await running.end(program.stopSignal);
      running = await startUntilUp(program);
    },
  };
}

/** Creates a directory for a server's data. */
export const makeServerDirectory = (name: string) =>
  mkdtempSync(join(serverFolder(), `clinical-launch-${name}-`));

const lowestPort = 15_000;
const highestPort = 31_999;
/**
 * The port that was returned last. Ports are returned in turn, so that no two servers of a process get the
 * same port.
 */
let lastPort = randomInt(lowestPort, highestPort);

/**
 * Returns a free port of 127.0.0.1 below the ports that the system uses for outgoing connections. So no
 * outgoing connection uses it before the server starts or while it restarts.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    lastPort = lastPort < highestPort ? lastPort + 1 : lowestPort;
    const port = lastPort;
    if ((await isFree(port)) && claim(port)) return port;
  }
}

/**
 * Claims a port for this process among the processes of the run, which may find the same port free before a
 * server listens. Returns false if the port was claimed before.
 */
function claim(port: number): boolean {
  const folder = runFolder();
  if (folder === undefined) return true;
  try {
    mkdirSync(join(folder, `port-${port}`));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false)).listen({ port, host: '127.0.0.1' }, () => resolve(true));
  const free = await promise;
  if (free) await new Promise((closed) => server.close(closed));
  return free;
}

/**
 * Waits until `isUp` resolves with true.
 * @throws TimeoutError after `waitLimitMs`, or the error of `assertAlive`
 */
export async function waitUntilUp(
  isUp: () => Promise<boolean>,
  assertAlive: () => void = () => undefined,
): Promise<void> {
  const deadline = Date.now() + waitLimitMs;
  while (!(await isUp().catch(() => false))) {
    assertAlive();
    if (Date.now() > deadline) throw timeoutError(`No answer within ${waitLimitMs} ms`);
    await delay(20);
  }
}

async function startUntilUp(program: ServerProgram) {
  const deadline = Date.now() + stoppedWithinMs;
  for (;;) {
    const started = await start(program);
    try {
      await waitUntilUp(
        () => program.isUp(),
        () => started.assertAlive(),
      );
      return started;
    } catch (error) {
      await started.end('SIGKILL');
      // After a kill -9, other processes of the server may hold its port for a moment (PostgreSQL's backends
      // do).
      if (Date.now() > deadline) throw error;
      await delay(100);
    }
  }
}

async function start({ command, arguments: args, directory, environment, user }: ServerProgram) {
  const log = join(directory, 'server.log');
  const child = spawn('sh', ['-c', guard, 'guard', command, ...args], {
    cwd: directory,
    env: { ...process.env, ...environment, GUARD_DIRECTORY: directory },
    stdio: ['pipe', 'pipe', 'ignore'],
    ...user,
  });
  let hasExited = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      hasExited = true;
      resolve();
    });
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).stdout.once('data', (line: Buffer) => resolve(Number(line)));
  });
  // If a test forgets to stop the server, the test process can still end, and the server ends with it.
  letGo(child, child.stdin, child.stdout);
  const signalServer = (signal: NodeJS.Signals) => hasExited || process.kill(pid, signal);
  return {
    pid,
    assertAlive() {
      if (!hasExited) return;
      throw new Error(`${command} ended: ${existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : ''}`);
    },
    async end(signal: NodeJS.Signals) {
      signalServer(signal);
      const tooLong = setTimeout(() => signalServer('SIGKILL'), stoppedWithinMs);
      await exited.finally(() => clearTimeout(tooLong));
    },
  };
}

function letGo(child: ChildProcess, ...pipes: (Readable | Writable)[]): void {
  child.unref();
  for (const pipe of pipes) if (pipe instanceof Socket) pipe.unref();
}
