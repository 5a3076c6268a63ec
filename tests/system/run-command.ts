import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterEach } from '@jest/globals';

/** The root folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

const ofSandbox: Readonly<Record<string, string>> = {
  'developer-portal': 'portal',
  simulators: 'simulators',
};

/** Returns the entry point of a service, of the developer portal or of the simulators, relative to the root. */
export const mainOf = (name: string) =>
  `${name in ofSandbox ? `sandbox/${ofSandbox[name]}` : `services/${name}`}/src/main.ts`;
const running: ChildProcess[] = [];
const databases: Awaited<ReturnType<typeof createTestDatabase>>[] = [];
afterEach(async () => {
  // Kills the process group of each command, because npm starts child processes.
  for (const { pid, exitCode, signalCode } of running.splice(0)) {
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  }
  for (const database of databases.splice(0)) await database.drop();
});

/** Runs a command in a folder as a user at a terminal would, and collects its output. */
export function run(
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  cwd: string = root,
) {
  // The test runner's own variables must not reach the command.
  const { NODE_OPTIONS: _options, JEST_WORKER_ID: _worker, NODE_ENV: _mode, ...inherited } = process.env;
  const child = spawn(command, args, { cwd, env: { ...inherited, ...environment }, detached: true });
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
    /**
     * Resolves with the match once the output contains it.
     * @throws Error if the command ends without a match
     */
    said: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output);
          if (match !== null) resolve(match);
        };
        listeners.add(look);
        look();
        void exited.then(() =>
          reject(new Error(`The command ended without a match. Its output:\n${output}`)),
        );
      }),
  };
}

/** Creates a database for one test, and returns its address. The database is dropped after the test. */
export async function ownDatabase(): Promise<string> {
  const database = await createTestDatabase();
  databases.push(database);
  return database.url;
}

/**
 * Starts the demo as `npm start` does, with a separate database, which is ready sooner than an embedded
 * database. Resolves with the address when the demo is ready.
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
 * Runs the commands of a documentation page in one shell. Changes only the address of the demo.
 * @throws Error if the commands do not contain that address
 */
export async function walk(commands: string, url: string): Promise<{ code: number | null; output: string }> {
  const address = 'http://localhost:8080';
  if (!commands.includes(address)) throw new Error(`The commands do not contain ${address}`);
  const walked = run('bash', ['-c', `set -euo pipefail\n${commands.replaceAll(address, url)}`]);
  return { code: await walked.exited, output: walked.output() };
}
