import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { provision } from '../src/provision.ts';
import { findFreePort, type PrivateServer } from '../src/servers/private-server.ts';
import { startRedis } from '../src/servers/redis.ts';

describe('a private Redis', () => {
  let server: PrivateServer;
  let client: Redis;
  beforeEach(async () => {
    server = await startRedis();
    client = new Redis(server.url, { retryStrategy: () => 20 });
    client.on('error', () => undefined);
  });
  afterEach(async () => {
    client.disconnect();
    await server.stop();
  });

  it('keeps acknowledged data and its address after kill -9 and a restart', async () => {
    await client.set('kept', 'yes');
    await server.kill();
    await server.restart();
    expect(await client.get('kept')).toBe('yes');
    await server.restart();
    expect(await client.get('kept')).toBe('yes');
  });

  it('is configured as in production, with an append-only file and no eviction', async () => {
    expect(await client.config('GET', 'append*')).toMatchObject(
      expect.arrayContaining(['appendonly', 'yes', 'appendfsync', 'everysec']),
    );
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  });
});

describe('a server, when its test is killed (-9)', () => {
  it('ends, and removes its data', async () => {
    const test = fork(fileURLToPath(new URL('abandoned-test.ts', import.meta.url)), { execArgv: [] });
    const [url] = (await once(test, 'message')) as string[];
    const client = new Redis(url ?? '', { retryStrategy: null });
    client.on('error', () => undefined);
    const [, directory = ''] = (await client.config('GET', 'dir')) as string[];
    expect(directory).not.toBe('');
    const ended = once(client, 'end');
    test.kill('SIGKILL');
    await ended;
    while (existsSync(directory)) await delay(50);
  });
});

describe('the servers of a test run', () => {
  let folder: string;
  const before = { ...process.env };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'clinical-launch-needs-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    process.env = { ...before };
  });

  /** Writes a test file that imports another file, in which these variables are used. */
  function aTestThatNeeds(...variables: string[]): string {
    mkdirSync(join(folder, 'test'));
    const file = join(folder, 'test/some.test.ts');
    writeFileSync(file, `import './needs.ts';`);
    writeFileSync(
      join(folder, 'test/needs.ts'),
      variables.map((variable) => `process.env.TEST_${variable};`).join('\n'),
    );
    return file;
  }

  it('are the servers that the environment names', async () => {
    for (const variable of ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL'])
      process.env[variable] = `other:${variable}`;
    const provided = await provision([aTestThatNeeds('REDIS_URL', 'AMQP_URL', 'DATABASE_URL')]);
    for (const variable of ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']) {
      expect(process.env[`TEST_${variable}`]).toBe(`other:${variable}`);
    }
    await provided.stop();
  });

  it('are started and stopped if the environment names none', async () => {
    delete process.env['REDIS_URL'];
    const provided = await provision([aTestThatNeeds('REDIS_URL')]);
    const client = new Redis(process.env[`TEST_${'REDIS_URL'}`] ?? '', { retryStrategy: null });
    client.on('error', () => undefined);
    expect(await client.ping()).toBe('PONG');
    const ended = once(client, 'end');
    await provided.stop();
    await ended;
  });

  it('are not started if no test needs them', async () => {
    delete process.env[`TEST_${'REDIS_URL'}`];
    await (await provision([aTestThatNeeds()])).stop();
    expect(process.env[`TEST_${'REDIS_URL'}`]).toBeUndefined();
  });

  it('get no port that another process of the run claimed before its server listens', async () => {
    const next = (await findFreePort()) + 1;
    mkdirSync(join(tmpdir(), `port-${next}`), { recursive: true });
    expect(await findFreePort()).not.toBe(next);
  });
});
