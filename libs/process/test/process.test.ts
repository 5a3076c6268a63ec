import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';

/** A process with one part that is not ready, and that says when it is stopped. */
const program = `
  import { runProcess } from '@clinical-launch/process/process';
  const checks = { store: async () => false };
  await runProcess({
    name: 'one-part',
    configure: () => undefined,
    open: async (_, { own }) => {
      own({ checks, stop: async () => console.log('the part is stopped') });
      return { mounts: [] };
    },
  });`;

describe('a part of a process', () => {
  it('counts for the readiness of the process, and is stopped with the process', async () => {
    const { NODE_ENV: _, ...environment } = process.env;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: { ...environment, PORT: '0', ADMIN_PORT: '0', HOST: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { promise: said, resolve } = Promise.withResolvers<string>();
    child.stdout.on('data', (chunk: Buffer) => {
      const [, admin] = /^ready one-part \S+ admin (\S+)/m.exec(chunk.toString()) ?? [];
      if (admin !== undefined) resolve(admin);
    });
    const output = text(child.stdout);
    const ready = await fetch(`${await said}/readyz`);
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(await ready.json()).toEqual({ status: 'not ready', parts: { serving: true, store: false } });
    expect(await output).toContain('the part is stopped');
  });
});
