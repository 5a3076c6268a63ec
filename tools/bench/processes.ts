import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A measured program. On a machine with several cores, the program has the first core to itself, unless
 * `usesEveryCore` is true.
 */
export type Measured = {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
};

type StartOptions = {
  /** The path relative to the root of the repository. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  /** Whether the program may use all cores, which it then shares with the servers and the load. */
  readonly usesEveryCore?: boolean;
};

type Stoppable = { stop(): Promise<void> };

/** Collects started parts, to stop all of them in reverse order. */
export function keepAll() {
  const parts: Stoppable[] = [];
  return {
    kept: async <Part extends Stoppable>(starting: Promise<Part>): Promise<Part> => {
      const part = await starting;
      parts.push(part);
      return part;
    },
    stop: async () => {
      for (const part of parts.toReversed()) await part.stop();
    },
  };
}

const hasTwoCores = availableParallelism() > 1;

/** Moves this process, which generates the load, and its future child processes to the second core. */
export async function leaveFirstCore(): Promise<void> {
  if (hasTwoCores) await moveTo('1');
}

/** Lets this process and its future child processes use all cores. */
export const useEveryCore = (): Promise<void> => moveTo(`0-${cpus().length - 1}`);

async function moveTo(cores: string): Promise<void> {
  await once(spawn('taskset', ['-acp', cores, `${process.pid}`], { stdio: 'ignore' }), 'exit');
}

/**
 * `NODE_OPTIONS` of deploy/docker/Dockerfile. A service that collects garbage once, when it is ready, takes
 * 15 % less CPU for each RequestLaunchUrl afterwards, because its young generation stays small.
 */
const nodeOptionsOfImage = ['--expose-gc'];

/**
 * Starts a program of the repository, by default on the first core, and resolves when it prints `ready`.
 * @throws Error with its output if it exits first
 */
export async function startMeasured({
  program,
  usesEveryCore = false,
  ...options
}: StartOptions): Promise<Measured> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const command = [
    process.execPath,
    ...nodeOptionsOfImage,
    join(root, program),
    ...(options.arguments ?? []),
  ];
  const [file = '', ...rest] = hasTwoCores && !usesEveryCore ? ['taskset', '-c', '0', ...command] : command;
  const child = spawn(file, rest, {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
      HOST: '127.0.0.1',
      NODE_COMPILE_CACHE: compileCache,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await untilReady(child, program);
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const compileCache = process.env['NODE_COMPILE_CACHE'] ?? temporaryCache();

function temporaryCache(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function untilReady(child: ChildProcess, program: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let output = '';
  let isReady = false;
  let last = '';
  const read = (chunk: Buffer) => {
    if (isReady) return void (last = chunk.toString());
    output += chunk.toString();
    isReady = /^ready /m.test(output);
    if (isReady) resolve();
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  child.once('exit', (code) => {
    reject(new Error(`${program} exited:\n${output}`));
    if (isReady && code !== null && code !== 0) process.stderr.write(`${program} failed:\n${last}\n`);
  });
  return promise;
}
