import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { describe, expect, it } from '@jest/globals';
import { ownDatabase, root, run, startDemo, walk } from './run-command.ts';

const otherNames = {
  AUDIENCE: 'api://another-name',
  FHIR_NS: 'https://fhir.another.example',
  NHS_NS: 'https://nhs.another.example',
  HL7UK_NS: 'https://hl7uk.another.example',
};

describe('./clinical-launch', () => {
  const list = './clinical-launch registry list --file sandbox/simulators/registry.json';

  it('prints one JSON document and nothing else with --json, from any folder', async () => {
    const command = run(
      'sh',
      ['-c', `${root}${list.slice(2).replace('sandbox', `${root}sandbox`)} --json | jq -r 'keys[0]'`],
      {},
      tmpdir(),
    );
    expect([await command.exited, command.output()]).toEqual([0, 'clients\n']);
  });

  it('ends quietly when the reader of its output has gone', async () => {
    const command = run('bash', ['-c', `set -o pipefail; ${list} | true`]);
    expect([await command.exited, command.output()]).toEqual([0, '']);
  });

  it('prints the faults of a command line to the errors, and exits with 2', async () => {
    const command = run('bash', ['-c', './clinical-launch registri list >/dev/null']);
    expect([await command.exited, command.output()]).toEqual([
      2,
      "error: unknown command 'registri' (Did you mean registry?)\n",
    ]);
  });

  it('starts the platform as npm start does, at the port of --port, until SIGTERM', async () => {
    const port = String(await findFreePort());
    const start = run('./clinical-launch', ['start', '--port', port], { DATABASE_URL: await ownDatabase() });
    await start.said(new RegExp(`^ready http://localhost:${port}$`, 'm'));
    start.child.kill('SIGTERM');
    expect(await start.exited).toBe(0);
  });

  it('exits with 1 if the demo fails', async () => {
    const demo = run('./clinical-launch', ['demo'], { BASE_URL: 'http://127.0.0.1:1' });
    expect(await demo.exited).toBe(1);
    expect(demo.output()).toContain('The demo failed');
  });
});

describe('npm start', () => {
  it('serves at the printed address, reports health at another port, and stops cleanly on SIGTERM', async () => {
    const port = String(await findFreePort());
    const start = run('npm', ['start'], { PORT: port });
    const [, url = ''] = await start.said(/^ready (.*)$/m);
    expect(url).toBe(`http://localhost:${port}`);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(404);
    await start.said(new RegExp(`^ready ${url}\n\n +Start here +${url}/\n`, 'm'));
    const [, adminUrl = ''] = await start.said(/"adminUrl":"([^"]+)"/);
    const ready = await fetch(`${adminUrl}/readyz`);
    expect([ready.status, (await fetch(`${adminUrl}/healthz`)).status]).toEqual([200, 200]);
    start.child.kill('SIGTERM');
    expect(await start.exited).toBe(0);
  });

  it('uses PUBLIC_URL in its published addresses', async () => {
    const port = String(await findFreePort());
    const environment = { PUBLIC_URL: 'https://launch.example', DATABASE_URL: await ownDatabase() };
    const start = run('npm', ['start'], { PORT: port, ...environment });
    await start.said(/^ready https:\/\/launch\.example$/m);
    const discovery = await fetch(`http://127.0.0.1:${port}/idp/demo/v2.0/.well-known/openid-configuration`);
    expect(await discovery.json()).toMatchObject({ issuer: 'https://launch.example/idp/demo/v2.0' });
    start.child.kill('SIGINT');
    expect(await start.exited).toBe(0);
  });

  it('serves HTTPS at HTTPS_PORT, and prints the line that trusts its new certificate', async () => {
    const home = mkdtempSync(join(tmpdir(), 'home-'));
    try {
      const environment = { HOME: home, PORT: '0', HTTPS_PORT: '0', DATABASE_URL: await ownDatabase() };
      const start = run('node', ['tools/platform/src/main.ts'], environment);
      const [, url = ''] = await start.said(/^ready (https:\/\/localhost:\d+)$/m);
      const [, certificate = ''] = await start.said(/export NODE_EXTRA_CA_CERTS=(.*)$/m);
      const issuer = `${url}/idp/demo/v2.0`;
      const discovery = [`${issuer}/.well-known/openid-configuration`, '--cacert', certificate];
      const read = run('curl', ['-sS', ...discovery]);
      expect([await read.exited, JSON.parse(read.output())]).toEqual([
        0,
        expect.objectContaining({ issuer }),
      ]);
      start.child.kill('SIGTERM');
      expect(await start.exited).toBe(0);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it('reports all errors of the configuration at once, and does not start', async () => {
    const start = run('npm', ['start'], {
      PORT: 'many',
      LOG_LEVEL: 'loud',
      ORIGINATING_ID_RETENTION_DAYS: '0',
      AUDIT_RETENTION_YEARS: '0',
    });
    expect(await start.exited).not.toBe(0);
    expect(start.output()).toMatch(
      /PORT must be[^]*LOG_LEVEL must be[^]*ORIGINATING_ID_RETENTION_DAYS must be[^]*AUDIT_RETENTION_YEARS must be/,
    );
    expect(start.output()).not.toMatch(/^ready|many/m);
  });

  it('does not start in production without the required settings, and lists all missing settings', async () => {
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
  });
});

describe('npm start', () => {
  it('reports in one line that its port is in use', async () => {
    const server = createServer().listen(0);
    try {
      const { port } = server.address() as AddressInfo;
      const start = run('node', ['tools/platform/src/main.ts'], { PORT: String(port) });
      expect(await start.exited).toBe(1);
      expect(start.output()).toBe(
        `Port ${port} is in use. Stop the other program, or set PORT to another port.\n`,
      );
    } finally {
      server.close();
    }
  });

  it('reports a missing file by its path', async () => {
    const start = run('node', ['tools/platform/src/main.ts'], { REGISTRY_FILE: '/nowhere/registry.json' });
    expect(await start.exited).toBe(1);
    expect(start.output()).toMatch(
      /^The configuration is invalid:\n {2}REGISTRY_FILE: .*\/nowhere\/registry.json.*\n$/,
    );
  });
});

describe('npm start at a terminal', () => {
  it('shows the start page, the clients of the demo and a readable log', async () => {
    const port = String(await findFreePort());
    // `script` of util-linux provides a terminal.
    const start = run('script', ['-qec', 'exec node tools/platform/src/main.ts', '/dev/null'], {
      PORT: port,
    });
    await start.said(/^ready [^]*Stored data/m);
    const shown = start.output();
    expect(shown).toMatch(/^\[\d\d:\d\d:\d\d\].*INFO/m);
    expect(shown).not.toContain('{"level"');
    expect(shown).toMatch(new RegExp(`Start here +http://localhost:${port}/`));
    expect(shown).toMatch(/Clients of demo +pms-demo, /);
    start.child.kill('SIGTERM');
    await start.exited;
  });
});

describe('npm run dev', () => {
  it('serves like npm start, and restarts after a source file is saved', async () => {
    const dev = run('npm', ['run', 'dev'], { PORT: String(await findFreePort()) });
    const [, url = ''] = await dev.said(/^ready (.*)$/m);
    const now = new Date();
    utimesSync(`${root}services/launch-api/src/service.ts`, now, now);
    await dev.said(/^ready [^]*^ready /m);
    expect((await fetch(url)).status).toBe(200);
    dev.child.kill('SIGTERM');
    await dev.exited;
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

describe('npm run demo', () => {
  it('plays an OLTR launch and a desktop launch on its own instance, and prints the results', async () => {
    const demo = run('npm', ['run', 'demo']);
    expect([await demo.exited, demo.output()]).toEqual([
      0,
      expect.stringMatching(
        /<onlineOrder[^]*… \d+ lines more\n[^]*ok {2}the ID token carries the context: .*Whitfield[^]*ok {2}GET \/resource\/patient .*Whitfield[^]*ok {2}the audit trail lists the events of the launch: .*desktop\.launch\.issued[^]*Open next\n {2}npm start .*\n {2}http:\/\/localhost:8080\/ /,
      ),
    ]);
    const numbers = [...demo.output().matchAll(/^ *(\d+) {2}ok/gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(15);
    expect(demo.output()).not.toContain('\u001b[');
  });

  it.each([
    ['with colours', '', true],
    ['without colours if NO_COLOR is set', '1', false],
  ])('plays both launches on a running instance, at a terminal %s', async (_case, noColour, hasColours) => {
    const url = await startDemo();
    const environment = { BASE_URL: url, NO_COLOR: noColour };
    // `script` of util-linux provides a terminal. A CI job sets CI but not TERM, so Node.js would print no
    // colours.
    const play = 'exec env -u CI -u FORCE_COLOR TERM=xterm node tools/platform/src/play.ts';
    const demo = run('script', ['-qec', play, '/dev/null'], environment);
    expect([await demo.exited, demo.output()]).toEqual([0, expect.stringContaining('resource.read.v1')]);
    expect(demo.output()).toContain(`${url}/demo/wire`);
    expect(demo.output().includes('\u001b[32mok')).toBe(hasColours);
  });

  it('plays both launches on a platform with another audience and other namespaces', async () => {
    const demo = run('npm', ['run', 'demo'], { ...otherNames, DATABASE_URL: await ownDatabase() });
    expect([await demo.exited, demo.output()]).toEqual([0, expect.stringContaining('resource.read.v1')]);
  });

  it('fails if nothing answers at BASE_URL', async () => {
    const demo = run('npm', ['run', 'demo'], { BASE_URL: `http://127.0.0.1:${await findFreePort()}` });
    expect(await demo.exited).toBe(1);
  });
});

describe('the simulators of a platform with another audience and other namespaces', () => {
  it('open the OLTR application and a partner application', async () => {
    const url = await startDemo(otherNames);
    const sent = (path: string, form: Record<string, string>) =>
      fetch(`${url}/demo/${path}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
    const pms = await sent('pms/launches', { action: 'OrderTest', patient: 'record-1' });
    expect([pms.status, pms.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('/secureLaunch?'),
    ]);
    const host = await sent('host/launches', { partner: 'partner-demo', patient: 'record-1' });
    expect([host.status, host.headers.get('location')]).toEqual([303, expect.stringContaining('launch=')]);
  });
});

describe('the PMS guide', () => {
  it('has commands that work, from the token to the events of the launch', async () => {
    const guide = readFileSync(`${root}docs/guides/pms.md`, 'utf8');
    const [, commands = ''] = /```sh\n([^]*?)```/.exec(guide) ?? [];
    expect(await walk(commands, await startDemo())).toEqual({
      code: 0,
      output: expect.stringMatching(/200 OK[^]*410 Gone[^]*launch\.token\.redeemed/),
    });
  });
});

describe('the deployment guide', () => {
  it('has commands that create the secrets, the registry and the users of Redis and RabbitMQ', async () => {
    const guide = readFileSync(`${root}docs/guides/deploy.md`, 'utf8');
    const commands = [...guide.matchAll(/^ *```sh\n([^]*?)```/gm)].map(([, block = '']) => block);
    expect(commands).toHaveLength(4);
    const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
    try {
      const walked = run('bash', ['-c', `set -euo pipefail\n${commands.join('\n')}`], { FILES: folder });
      expect([await walked.exited, walked.output()]).toEqual([
        0,
        expect.stringMatching(
          /42 files written[^]*client_secret: [^]*production: accepts it[^]*2 files written/,
        ),
      ]);
      expect(readdirSync(join(folder, 'access')).toSorted()).toEqual(['definitions.json', 'users.acl']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the host guide', () => {
  it('has commands that work, from the token to the end of the launch', async () => {
    const guide = readFileSync(`${root}docs/guides/host.md`, 'utf8');
    const commands = [...guide.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
    expect(await walk(commands.join('\n'), await startDemo())).toEqual({
      code: 0,
      output: expect.stringMatching(/"launchUrl":"http[^]*204\n\{"ended":0\}$/),
    });
  });
});

describe('the partner guide', () => {
  it('has commands that work, from onboarding to tokens, the resource, a refresh and the end of the launch', async () => {
    const guide = readFileSync(`${root}docs/guides/partner.md`, 'utf8');
    const commands = [...guide.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
    expect(commands).toHaveLength(9);
    expect(await walk(commands.join('\n'), await startDemo())).toEqual({
      code: 0,
      output: expect.stringMatching(
        /^Adaeze Okonkwo - Harbour Surgery - agmt-agmt\.read clinical-cr\.read\npatient-context 1\.0\.0 - Cathal Ó Súilleabháin 03-Nov-1987\n\{"user".*\}\{"title":"Mr".*\}\{"user".*\}[^]*401\n$/,
      ),
    });
  });
});

describe('npm run bench', () => {
  it('rejects an unknown bench, and lists the existing benches', async () => {
    const command = run('npm', ['run', 'bench', '--', 'lunch']);
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain('Unknown bench: lunch.');
    expect(command.output()).toMatch(/launch, .*tokens, events/);
  });
});
