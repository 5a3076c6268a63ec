import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { callbackSecretOf } from '@clinical-launch/twin/vendor-client';
import { describe, expect, it } from '@jest/globals';
import { root, run, startDemo } from './run-command.ts';

const examples = `${root}docs/examples/`;
const python = process.env['PYTHON_PATH'] || 'python3';
const java = process.env['JAVA_PATH'] || 'java';

/** Runs an example and returns its output. @throws Error if it fails */
async function output(command: string, args: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { exited, output: said } = run(command, args, { PYTHONDONTWRITEBYTECODE: '1', ...environment });
  if ((await exited) !== 0) throw new Error(said());
  return said();
}

/** Registers a client with a callback in a copy of the demo's registry, with the commands of the guide. */
async function registerPms(registry: string, callbackPort: string) {
  copyFileSync(`${root}sandbox/simulators/registry.json`, registry);
  const ops = async (...args: string[]): Promise<Readonly<Record<string, string>>> =>
    JSON.parse(
      await output(process.execPath, [`${root}tools/ops/src/main.ts`, 'registry', ...args, '--json'], {
        REGISTRY_FILE: registry,
      }),
    );
  const client = ['--realm', 'demo', '--client-id', 'my-pms'];
  const { client_secret: secret } = await ops('add-pms', ...client, '--name', 'My PMS', '--practices', 'any');
  const url = `http://127.0.0.1:${callbackPort}/callbacks`;
  const { callback_secret: callbackSecret } = await ops('set-callback', ...client, '--url', url);
  return { secret, callbackSecret };
}

describe('the example of a PMS in Python', () => {
  it('plays OrderTest and UpdateTest, causes 400, 409 and 410, and verifies signed callbacks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'examples-'));
    try {
      const registry = join(folder, 'registry.json');
      const callbackPort = String(await findFreePort());
      const { secret, callbackSecret } = await registerPms(registry, callbackPort);
      const played = await output(python, [`${examples}play.py`], {
        BASE_URL: await startDemo({ REGISTRY_FILE: registry }),
        CLIENT_ID: 'my-pms',
        CLIENT_SECRET: secret,
        CALLBACK_SECRET: callbackSecret,
        CALLBACK_PORT: callbackPort,
      });
      expect(played).toMatch(
        /OrderTest: 2 tests.*\ncallback: order .*version 1\nUpdateTest: 3 tests.*\ncallback: version 2\n400: .*\n409: .*\n410: /,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the examples of a PMS that runs all the time', () => {
  it.each([
    ['Python', python, 'serve.py'],
    ['Node', process.execPath, 'serve.mjs'],
  ])('in %s pass a conformance run', async (_name, command, file) => {
    const folder = mkdtempSync(join(tmpdir(), 'examples-'));
    try {
      const attestations = join(folder, 'attestations.json');
      const attested = ['pms.secrets-stored', 'pms.reference-shown', 'pms.callback-filed-once'];
      writeFileSync(attestations, JSON.stringify(Object.fromEntries(attested.map((id) => [id, 'Ada']))));
      const [port, ownPort] = [await findFreePort(), await findFreePort()];
      const pms = run(command, [examples + file], {
        BASE_URL: `http://localhost:${port}`,
        CLIENT_ID: 'my-pms',
        CLIENT_SECRET: 'my-pms-secret',
        CALLBACK_SECRET: callbackSecretOf('my-pms'),
        PORT: String(ownPort),
        PYTHONDONTWRITEBYTECODE: '1',
      });
      const [, url] = await pms.said(/^ready (.*)$/m);
      const options = {
        client: 'my-pms',
        port: String(port),
        callback: `${url}/callbacks`,
        attest: attestations,
      };
      const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
      const launch = ['sh', '-c', `curl -sL -o /dev/null "${url}/$CONFORMANCE_ACTION"`];
      const twin = [`${root}sandbox/twin/src/main.ts`, 'conformance', 'run', ...given, '--', ...launch];
      const played = await output(process.execPath, twin, {});
      expect(played).toContain('The results are as expected');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the example of a partner in Python', () => {
  it('completes the launch, reads a resource and refreshes its tokens', async () => {
    const environment = { BASE_URL: await startDemo(), PYTHONUTF8: '1' };
    const launchUrl = await output(python, [`${examples}host.py`], environment);
    const played = await output(python, [`${examples}partner.py`, launchUrl.trim()], environment);
    expect(played).toBe(
      'Adaeze Okonkwo opened Cathal Ó Súilleabháin\nresource: Ó Súilleabháin\nrefreshed: Ó Súilleabháin\nrefreshed: Ó Súilleabháin\n',
    );
  });
});

describe('the conformance run of a twin', () => {
  it('passes the example of a partner in Python', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'examples-'));
    try {
      const attest = join(folder, 'attestations.json');
      const attested = { 'partner.errors-shown': 'A Tester', 'partner.tokens-private': 'A Tester' };
      writeFileSync(attest, JSON.stringify(attested));
      const port = String(await findFreePort());
      const partner = `http://localhost:${port}/demo/partner`;
      const options = Object.entries({
        port,
        attest,
        protocol: 'partner',
        client: 'partner-demo',
        'redirect-uri': `${partner}/callback`,
        'launch-url': `${partner}/launch`,
      }).flatMap(([name, value]) => [`--${name}`, value]);
      const command = ['sh', '-c', `${python} ${examples}partner.py "$LAUNCH_URL"`];
      const twin = [`${root}sandbox/twin/src/main.ts`, 'conformance', 'run', ...options, '--', ...command];
      const judged = await output(process.execPath, twin, { PYTHONUTF8: '1' });
      expect(judged).toContain('The results are as expected');
      expect(judged).not.toMatch(/^(?:failed|unseen|waiting)/m);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the examples of a PMS’s calls', () => {
  it.each([
    ['curl', 'sh', 'launch.sh'],
    ['Node', process.execPath, 'launch.mjs'],
    ['Java', java, 'Launch.java'],
  ])('in %s open the application with the minimal and the full payload', async (_name, command, file) => {
    const environment = { BASE_URL: await startDemo() };
    for (const payload of ['minimal.json', 'full.json']) {
      const said = await output(command, [examples + file, examples + payload], environment);
      const [url = ''] = /^http.*codeVerifier=.*$/m.exec(said) ?? [];
      expect((await fetch(url)).status).toBe(200);
    }
  });

  it('in C# are compiled and run by a job of the workflow, because the tests do not install .NET', () => {
    expect(readFileSync(`${root}.github/workflows/ci.yml`, 'utf8')).toContain('docs/examples/Launch.cs');
  });

  it.each([
    ['launch.mjs', process.execPath],
    ['Launch.java', java],
    ['partner.py', python],
  ])('print their usage without an argument: %s', async (file, command) => {
    const { exited, output: said } = run(command, [examples + file], { PYTHONDONTWRITEBYTECODE: '1' });
    expect([await exited, said()]).toEqual([
      expect.any(Number),
      expect.stringMatching(new RegExp(`^Usage: .*${file} .*\n$`)),
    ]);
  });
});
