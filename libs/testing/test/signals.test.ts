import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, it } from '@jest/globals';
import { until } from '../src/until.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A test that starts every kind of server, starts a process that loses its parent, and then hangs. */
const hangingTest = `
import { spawn } from 'node:child_process';
import { startRedis } from '${root}libs/testing/src/servers/redis.ts';
import { createTestDatabase } from '${root}libs/testing/src/test-storage.ts';
import { it } from '@jest/globals';
it('hangs', async () => {
  await createTestDatabase(process.env.TEST_DATABASE_URL, process.env.TEST_REDIS_URL, process.env.TEST_AMQP_URL);
  await startRedis();
  spawn('sh', ['-c', 'sleep 1001 & exec sleep 1002'], { detached: true });
  process.stderr.write('everything runs in ' + process.env.TMPDIR + ' under ' + process.ppid + '.\\n');
  await new Promise(() => setInterval(() => undefined, 1000));
});
`;

let folder: string;
let command: ChildProcess;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clinical-launch-hanging-'));
  mkdirSync(join(folder, 'test'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'test/hanging.test.ts'), hangingTest);
  writeFileSync(
    join(folder, 'jest.config.js'),
    `import ours from '${root}tests/jest.config.js';
     export default { ...ours.projects[1], roots: ['${folder}'], testMatch: ['**/*.test.ts'] };`,
  );
});
afterEach(() => {
  if (command.exitCode === null && command.signalCode === null) process.kill(-(command.pid ?? 0), 'SIGKILL');
  rmSync(folder, { recursive: true });
});

const reportPattern = /everything runs in (\S+) under (\d+)\./;

/**
 * Starts the test command, and waits until these programs run. Returns the folder of the run, Jest's process
 * id and all processes.
 */
async function startUntilRunning(programs: readonly string[], servers: NodeJS.ProcessEnv = {}) {
  output = '';
  command = spawn('npm', ['test', '--', `--projects=${folder}/jest.config.js`], {
    cwd: root,
    env: { ...process.env, ...servers },
    detached: true,
  });
  for (const stream of [command.stdout, command.stderr]) stream?.on('data', (chunk) => (output += chunk));
  await until(
    () => reportPattern.test(output) || command.exitCode !== null,
    () => output,
  );
  const [, runFolder = '', jest] = reportPattern.exec(output) ?? [];
  const missing = () =>
    programs.filter((program) => !processesOf(runFolder).some(({ name }) => name.startsWith(program)));
  await until(
    () => missing().length === 0,
    () => missing().join(', '),
  );
  return { runFolder, jest: Number(jest), processes: processesOf(runFolder) };
}

type Process = { readonly id: number; readonly parent: number; readonly name: string; readonly key: string };

/** Returns the command, the processes with the folder in their environment, and the descendants of both. */
function processesOf(runFolder: string): Process[] {
  const all = readdirSync('/proc').flatMap((id) => readProcess(id) ?? []);
  const found = new Set([command.pid]);
  for (const { id } of all) if (environmentOf(id).includes(`TMPDIR=${runFolder}`)) found.add(id);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { id, parent } of all) if (found.has(parent)) found.add(id);
  }
  return all.filter(({ id }) => found.has(id));
}

function readProcess(id: string): Process | undefined {
  if (!/^\d+$/.test(id)) return undefined;
  const [, name = '', rest = ''] = /\((.*)\) (.*)/.exec(read(`/proc/${id}/stat`)) ?? [];
  const [state, parent, ...others] = rest.split(' ');
  // A zombie has ended. The start time distinguishes a process from a later process with the same id.
  if (state === undefined || state === '' || state === 'Z') return undefined;
  return { id: Number(id), parent: Number(parent), name, key: `${id} ${name} ${others[17]}` };
}

const environmentOf = (id: number) => read(`/proc/${id}/environ`).split('\0');

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function expectAllEnded({ runFolder, processes }: Awaited<ReturnType<typeof startUntilRunning>>) {
  const started = new Set(processes.map(({ key }) => key));
  const left = () =>
    readdirSync('/proc')
      .flatMap((id) => readProcess(id) ?? [])
      .filter(({ key }) => started.has(key))
      .map(({ key }) => key);
  await until(
    () => left().length === 0 && processesOf(runFolder).length === 0,
    () => left().join(', '),
  );
  const inMemory = join('/dev/shm', basename(runFolder));
  await until(() => !existsSync(runFolder) && !existsSync(inMemory));
}

const programs = ['redis-server', 'sleep'];

describe('the processes that the test command started', () => {
  it('end after SIGTERM to npm, including the servers of the run', async () => {
    const all = await startUntilRunning([...programs, 'beam.smp', 'epmd', 'postgres']);
    process.kill(command.pid ?? 0, 'SIGTERM');
    await expectAllEnded(all);
  });

  it.each([
    ['Ctrl-C, which reaches the whole process group', () => process.kill(-(command.pid ?? 0), 'SIGINT')],
    ['kill -9 of Jest alone', (jest: number) => process.kill(jest, 'SIGKILL')],
  ])('end after %s', async (_what, end) => {
    const { TEST_REDIS_URL, TEST_AMQP_URL, TEST_DATABASE_URL } = process.env;
    const all = await startUntilRunning(programs, {
      REDIS_URL: TEST_REDIS_URL,
      AMQP_URL: TEST_AMQP_URL,
      DATABASE_URL: TEST_DATABASE_URL,
    });
    end(all.jest);
    await expectAllEnded(all);
  });
});
