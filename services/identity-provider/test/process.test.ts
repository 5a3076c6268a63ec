import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { aClient, tokenForm } from './running-identity-provider.ts';

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const children: ChildProcess[] = [];
let folder: string;
let registryFile: string;
const registry = (realm: string, clients: readonly object[] = []) =>
  JSON.stringify({ realms: [{ realm, clients }] });
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'identity-provider-'));
  registryFile = join(folder, 'registry.json');
  await writeFile(registryFile, registry('demo'));
});
afterAll(async () => {
  // The processes have already exited, unless a test failed.
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
  await database.drop();
});

/** Returns a function that waits for the next output line of the process with the given words. */
function follow(child: ChildProcess) {
  if (child.stdout === null) throw new TypeError('The process has no output');
  const waiting = new Set<(line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => waiting.forEach((hear) => hear(line)));
  return (words: string) =>
    new Promise<string>((resolve) => {
      const hear = (line: string) => {
        if (!line.includes(words)) return;
        waiting.delete(hear);
        resolve(line);
      };
      waiting.add(hear);
    });
}

function start(databaseUrl: string): ChildProcess {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      ADMIN_PORT: '0',
      PUBLIC_URL: 'http://localhost',
      IDENTITY_PROVIDER_URL: 'http://localhost',
      REGISTRY_FILE: registryFile,
      REDIS_URL: process.env.TEST_REDIS_URL,
      REDIS_PREFIX: `test-${randomUUID()}:`,
      // Nothing listens at this address. The service issues tokens even without a broker.
      AMQP_URL: 'amqp://127.0.0.1:1',
      DATABASE_URL: databaseUrl,
    },
  });
  children.push(child);
  return child;
}

it.concurrent('the process waits for its database, and exits on SIGTERM during the wait', async () => {
  const child = start('postgres://127.0.0.1:1/none');
  const exit = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  await follow(child)('waiting for the database and its migrations');
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

it.concurrent('the process loads a changed registry without a restart, and ignores an invalid registry', async () => {
  const child = start(database.url);
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const waitFor = follow(child);
  const [, address = ''] = /(http:\S+)/.exec(await waitFor('ready identity-provider')) ?? [];
  const ask = async () =>
    (
      await fetch(`${address}/demo/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams(tokenForm()),
      })
    ).status;
  expect(await ask()).toBe(401);

  const taken = waitFor('the changed registry is in use');
  await writeFile(registryFile, registry('demo', [aClient()]));
  await taken;
  expect(await ask()).toBe(200);

  const refused = waitFor('the changed registry is invalid');
  await writeFile(registryFile, registry('Demo Realm'));
  expect(JSON.parse(await refused)).toMatchObject({
    level: 50,
    err: { message: expect.stringContaining('realms[0].realm must be one or two path segments') },
  });
  expect(await ask()).toBe(200);

  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

it.concurrent('the process exits if the reader of its log has ended, also while it starts', async () => {
  const serving = start(database.url);
  const starting = start('postgres://127.0.0.1:1/none');
  const exits = [serving, starting].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  const [, address = ''] = /(http:\S+)/.exec(await follow(serving)('ready identity-provider')) ?? [];
  await follow(starting)('waiting for the database and its migrations');
  serving.stdout?.destroy();
  starting.stdout?.destroy();
  // Each request writes a line to the log.
  while (serving.exitCode === null) await fetch(`${address}/demo/nothing`).catch(() => undefined);
  starting.kill('SIGTERM');
  expect(await Promise.all(exits)).toEqual([1, expect.anything()]);
});
