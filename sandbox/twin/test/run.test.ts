import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Runs `clinical-launch-twin` until it ends. */
function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('clinical-launch-twin', () => {
  it('lists its commands with --help, and their options with <command> --help', () => {
    expect(run('--help')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^ {2}start \[options\] {2,}Starts/m),
    });
    expect(run('start', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('--port <number>'),
    });
    expect(run('--version')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it.each([
    [['strat'], "unknown command 'strat' (Did you mean start?)"],
    [['toString'], "unknown command 'toString'"],
    [['--unknown'], "unknown option '--unknown'"],
    [['--prt', '1'], 'Did you mean --port?'],
    [['--https-port', 'x'], '--https-port must be a number from 0 to 65535'],
    [['--port'], "option '--port <number>' argument missing"],
    [['start', '--port', '65536'], '--port must be a number from 0 to 65535'],
    [['--log-level', 'loud'], '--log-level must be a level'],
    [['start', '--', 'true'], "too many arguments for 'start'"],
    [['start', '--callback', 'http://127.0.0.1:9'], '--client is required'],
    [['start', '--client', 'a', '--callback', 'x'], '--callback must be an http or https address'],
    [['conformance', 'run'], '--client is required'],
    [['conformance', 'run', '--client', 'a', '--port', 'x'], '--port must be a number from 0 to 65535'],
    [['conformance', 'run', '--client', 'a', '--protocol', 'host'], '--protocol must be pms or partner'],
    [['conformance', 'run', '--client', 'a', '--protocol', 'partner'], 'A partner needs --redirect-uri'],
    [['conformance', 'run', '--client', 'a', '--expect', main], 'main.ts cannot be read'],
  ])('exits with 2 for the arguments %j', (args, message) => {
    expect(run(...args)).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  it('start adds the client of --client, and prints its secrets', async () => {
    const args = ['start', '--port', '0', '--client', 'my-pms', '--callback', 'http://127.0.0.1:9/callbacks'];
    const twin = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    for await (const line of createInterface(twin.stdout)) if (lines.push(line) === 3) break;
    expect(lines).toEqual([
      expect.stringMatching(/^ready http/),
      'client secret my-pms-secret',
      expect.stringMatching(/^callback secret whsec_/),
    ]);
    const [, url = ''] = lines[0]?.split(' ') ?? [];
    const { status } = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'my-pms',
        client_secret: 'my-pms-secret',
        scope: 'api://clinical-launch/.default',
      }),
    });
    expect(status).toBe(200);
    twin.kill();
  });

  it('start serves HTTPS with --https-port, and prints the lines that trust its certificate', async () => {
    const twin = spawn(process.execPath, [main, 'start', '--port', '0', '--https-port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    for await (const line of createInterface(twin.stdout)) if (lines.push(line) === 3) break;
    const [ready = '', node = '', python] = lines;
    const [, certificate = ''] = node.split('export NODE_EXTRA_CA_CERTS=');
    expect(python).toBe(`export REQUESTS_CA_BUNDLE=${certificate}`);
    const [, url = ''] = /^ready (https:.*)$/.exec(ready) ?? [];
    const { stdout } = spawnSync('curl', ['-sS', '--cacert', certificate, `${url}/clock`], {
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toEqual({ now: expect.any(String) });
    twin.kill();
  });

  it('exits with 1 in an older Node, and names the version that it needs', () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "22.20.0" })';
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${older}`, main],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([1, expect.stringContaining('needs Node 24.11')]);
  });

  it('exits with 2 if an attested id is not the id of a requirement', () => {
    const folder = mkdtempSync(join(tmpdir(), 'attest-'));
    const file = join(folder, 'attest.json');
    writeFileSync(file, JSON.stringify({ 'pms.secret-stored': 'Ada Okonkwo' }));
    const { status, stderr } = run('conformance', 'run', '--client', 'a', '--port', '0', '--attest', file);
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('--attest names no requirement of this run: pms.secret-stored'),
    ]);
  });

  it('conformance run prints the address of its page, and the exit code of a command that fails', async () => {
    const options = ['--client', 'a', '--port', '0', '--', process.execPath];
    const command = ['-e', 'console.log("a line of the product"); process.exit(7)'];
    const twin = spawn(process.execPath, [main, 'conformance', 'run', ...options, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    for await (const line of createInterface(twin.stdout))
      if (lines.push(line) && line === 'the command exited with 7') break;
    const [, page = ''] = /^run (.*)$/m.exec(lines.join('\n')) ?? [];
    expect((await fetch(page)).status).toBe(200);
    twin.kill();
    expect(await text(twin.stderr)).toContain('a line of the product');
    expect(lines).not.toContain('a line of the product');
  });

  it('exits with 2 if its port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    expect(run('--port', port)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`Port ${port} is in use. Choose another port with --port`),
    });
    other.close();
  });
});
