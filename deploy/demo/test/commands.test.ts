import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const running: ChildProcess[] = [];
afterEach(() => {
  // npm starts others, and a signal to it alone would leave them behind: each command has a process group.
  for (const { pid, exitCode } of running.splice(0)) {
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  }
});

/** Runs a command as somebody at a terminal does, with everything that it says. */
function run(command: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

describe('npm start', () => {
  it('serves at the address that it says is ready, tells its health elsewhere, and stops cleanly on SIGTERM', async () => {
    const port = String(await freePort());
    const start = run('npm', ['start'], { PORT: port });
    const [, url = ''] = await start.said(/^ready (.*)$/m);
    expect(url).toBe(`http://localhost:${port}`);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(404);
    const [, adminUrl = ''] = await start.said(/"adminUrl":"([^"]+)"/);
    const ready = await fetch(`${adminUrl}/readyz`);
    expect([ready.status, (await fetch(`${adminUrl}/healthz`)).status]).toEqual([200, 200]);
    start.child.kill('SIGTERM');
    expect(await start.exited).toBe(0);
  }, 120_000);

  it('uses PUBLIC_URL in the addresses that it gives out', async () => {
    const port = String(await freePort());
    const start = run('npm', ['start'], { PORT: port, PUBLIC_URL: 'https://launch.example' });
    await start.said(/^ready https:\/\/launch\.example$/m);
    const discovery = await fetch(`http://127.0.0.1:${port}/idp/demo/v2.0/.well-known/openid-configuration`);
    expect(await discovery.json()).toMatchObject({ issuer: 'https://launch.example/idp/demo/v2.0' });
    start.child.kill('SIGINT');
    expect(await start.exited).toBe(0);
  }, 120_000);

  it('names every mistake of the configuration at once, and starts nothing', async () => {
    const start = run('npm', ['start'], { PORT: 'many', LAUNCH_TOKEN_SECONDS: '11', KEY_ROTATION_DAYS: '0' });
    expect(await start.exited).not.toBe(0);
    expect(start.output()).toMatch(
      /PORT must be[^]*KEY_ROTATION_DAYS must be[^]*LAUNCH_TOKEN_SECONDS must be/,
    );
    expect(start.output()).not.toMatch(/^ready|many/m);
  }, 120_000);

  it('does not start in production, and says everything that is missing', async () => {
    const start = run('npm', ['start'], {
      NODE_ENV: 'production',
      REDIS_URL: '',
      AMQP_URL: '',
      DATABASE_URL: '',
    });
    expect(await start.exited).not.toBe(0);
    for (const name of ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL', 'REGISTRY_FILE', 'SEALING_KEYS']) {
      expect(start.output()).toContain(`${name} is not set`);
    }
  }, 120_000);
});

describe('npm run demo', () => {
  it('plays one OLTR launch on a private instance and shows the order document', async () => {
    const demo = run('npm', ['run', 'demo']);
    expect([await demo.exited, demo.output()]).toEqual([0, expect.stringContaining('</onlineOrder>')]);
  }, 120_000);

  it('fails where nothing answers', async () => {
    const demo = run('npm', ['run', 'demo'], { BASE_URL: `http://127.0.0.1:${await freePort()}` });
    expect(await demo.exited).toBe(1);
  }, 120_000);
});

describe('the tour of the README', () => {
  it('works command by command', async () => {
    const port = String(await freePort());
    const start = run('npm', ['start'], { PORT: port });
    const [, url = ''] = await start.said(/^ready (.*)$/m);
    const readme = readFileSync(`${root}README.md`, 'utf8');
    const [, tour = ''] = /## A five-minute tour[^]*?```sh\n([^]*?)```/.exec(readme) ?? [];
    expect(tour).toContain('http://localhost:8080');
    const script = `set -euo pipefail\n${tour.replaceAll('http://localhost:8080', url)}`;
    const walked = run('bash', ['-c', script]);
    expect([await walked.exited, walked.output()]).toEqual([
      0,
      expect.stringMatching(/200 OK[^]*410 Gone[^]*launch\.token\.redeemed/),
    ]);
  }, 120_000);
});
