import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { createTestDatabase } from '@clinical-launch/testing/test-database';
import { afterEach } from '@jest/globals';

/** The repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
const running: ChildProcess[] = [];
const databases: Awaited<ReturnType<typeof createTestDatabase>>[] = [];
afterEach(async () => {
  // npm starts others, and a signal to it alone would leave them behind: each command has a process group.
  for (const { pid, exitCode } of running.splice(0)) {
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  }
  for (const database of databases.splice(0)) await database.drop();
});

/** Runs a command as somebody at a terminal does, with everything that it says. */
export function run(command: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
  // What the test runner has in its environment must not reach the command.
  const { NODE_OPTIONS: _options, JEST_WORKER_ID: _worker, NODE_ENV: _mode, ...inherited } = process.env;
  const child = spawn(command, args, { cwd: root, env: { ...inherited, ...environment }, detached: true });
  running.push(child);
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      for (const listener of listeners) listener();
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return {
    child,
    exited,
    output: () => output,
    /** Resolves with the match once the command has said it. @throws Error when it ends without. */
    said: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output);
          if (match !== null) resolve(match);
        };
        listeners.add(look);
        look();
        void exited.then(() => reject(new Error(`It ended and said only:\n${output}`)));
      }),
  };
}

/** Makes a database for what a test runs, and returns its address. It is dropped after the test. */
export async function ownDatabase(): Promise<string> {
  const database = await createTestDatabase();
  databases.push(database);
  return database.url;
}

/**
 * Starts the demo as `npm start` does, on a database of its own, which starts sooner than an embedded one.
 * Resolves with its address when it serves.
 */
export async function startDemo(environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const start = run(process.execPath, ['tools/platform/src/main.ts'], {
    ...environment,
    DATABASE_URL: await ownDatabase(),
    PORT: String(await findFreePort()),
  });
  const [, url = ''] = await start.said(/^ready (.*)$/m);
  return url;
}

/**
 * Runs commands of a page of the documentation in one shell, exactly as written except the address of the
 * demo.
 * @throws Error when they do not name that address.
 */
export async function walk(commands: string, url: string): Promise<{ code: number | null; output: string }> {
  const address = 'http://localhost:8080';
  if (!commands.includes(address)) throw new Error('These commands are of no guide');
  const walked = run('bash', ['-c', `set -euo pipefail\n${commands.replaceAll(address, url)}`]);
  return { code: await walked.exited, output: walked.output() };
}
