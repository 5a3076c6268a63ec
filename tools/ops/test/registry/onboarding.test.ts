import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { hashClientSecret } from '@clinical-launch/identity-provider/domain/client-secrets';
import { createTestKey } from '@clinical-launch/testing/token-issuer';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK } from 'jose';
import { runOps } from '../../src/run.ts';
import { openRegistryCopy } from './registry-copy.ts';

let copy: Awaited<ReturnType<typeof openRegistryCopy>>;
beforeEach(async () => {
  copy = await openRegistryCopy();
});
afterEach(async () => copy.remove());

const pms = ['--realm', 'demo', '--client-id', 'pms-new', '--name', 'A new PMS'];
const partner = ['--realm', 'demo/desktop', '--client-id', 'partner-new', '--name', 'New', '--launch-url'];

describe('add-pms', () => {
  it('prints the secret once, and adds only its hash to the file', async () => {
    const { code, reported, errors } = await copy.run(
      'add-pms',
      ...pms,
      '--requests-per-second',
      '5',
      '--frame-ancestor',
      'https://a.example',
      '--frame-ancestor',
      'https://b.example',
    );
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const secret = String(reported.get('client_secret'));
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await copy.clientNamed('demo', 'pms-new')).toEqual({
      clientId: 'pms-new',
      name: 'A new PMS',
      secrets: [{ sha256: hashClientSecret(secret) }],
      scopes: ['ocs-launch.write'],
      requestsPerSecond: 5,
      frameAncestors: ['https://a.example', 'https://b.example'],
    });
    expect(await copy.text()).not.toContain(secret);
    const { isKept, added } = await copy.changedLines();
    expect(isKept).toBe(true);
    expect(added).toContain('          "frameAncestors": ["https://a.example", "https://b.example"]');
  });

  it('registers public keys instead of a secret', async () => {
    const { publicJwk } = await createTestKey('k1');
    const path = join(copy.folder, 'keys.json');
    await writeFile(path, JSON.stringify({ keys: [publicJwk] }));
    const { code, reported, errors } = await copy.runHere('add-pms', ...pms, '--jwks', path);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(reported.has('client_secret')).toBe(false);
    expect(await copy.clientNamed('demo', 'pms-new')).toEqual({
      clientId: 'pms-new',
      name: 'A new PMS',
      secrets: [],
      jwks: { keys: [publicJwk] },
      scopes: ['ocs-launch.write'],
    });
  });

  it('registers the address of public keys, but refuses a private key', async () => {
    const address = 'https://pms.example/keys';
    expect((await copy.runHere('add-pms', ...pms, '--jwks-uri', address)).code).toBe(0);
    expect(await copy.clientNamed('demo', 'pms-new')).toMatchObject({ secrets: [], jwksUri: address });
    const { privateKey } = await createTestKey('k2');
    const path = join(copy.folder, 'private.json');
    const before = await copy.text();
    await writeFile(path, JSON.stringify({ kid: 'k2', ...(await exportJWK(privateKey)) }));
    const other = ['--realm', 'demo', '--client-id', 'pms-two', '--name', 'Two', '--jwks', path];
    const { code, errors } = await copy.runHere('add-pms', ...other);
    expect({ code, isSaid: errors.includes('is a private key') }).toEqual({ code: 1, isSaid: true });
    expect(await copy.text()).toBe(before);
  });

  it('reports every missing or invalid option at once, and changes nothing', async () => {
    const { code, output, errors } = await copy.run(
      'add-pms',
      '--realm',
      'Demo Realm',
      '--requests-per-second',
      '0',
    );
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors.trim().split('\n')).toEqual([
      '--realm must be one or two path segments of a-z, 0-9 and -, not beginning with tfp, assets or launches, or ending with launches',
      '--client-id is missing',
      '--name is missing',
      '--requests-per-second must be >= 1',
    ]);
    expect(await copy.text()).toBe(copy.before);
  });

  it('refuses a client that is already registered', async () => {
    const { code, errors } = await copy.runHere(
      'add-pms',
      '--realm',
      'demo',
      '--client-id',
      'pms-demo',
      '--name',
      'x',
    );
    expect({ code, errors }).toEqual({ code: 1, errors: 'The realm demo already has a client pms-demo\n' });
    expect(await copy.text()).toBe(copy.before);
  });
});

describe('the practices of a client', () => {
  const listed = [
    { system: 'ods-organization-code', code: 'B82017' },
    { system: 'local-org-code', code: 'Oak:42' },
  ];
  const practicesOf = async (clientId: string) => (await copy.clientNamed('demo', clientId))?.practices;

  it('may be any or a list when a client is registered, and are reported as not stated if they are absent', async () => {
    const codes = ['--practices', 'B82017', '--practices', 'ods:B82017', '--practices', 'local:Oak:42'];
    const listing = await copy.runHere('add-pms', ...pms, ...codes);
    expect([listing.code, listing.reported.get('practices')]).toEqual([0, 'B82017 Oak:42']);
    expect(await practicesOf('pms-new')).toEqual(listed);
    const named = ['--realm', 'demo', '--name', 'X', '--client-id'];
    const open = ['add-client', ...named, 'open', '--scope', 'ocs-launch.write', '--practices', 'any'];
    expect((await copy.runHere(...open)).reported.get('practices')).toBe('any');
    expect(await practicesOf('open')).toBe('any');
    const unstated = await copy.runHere('add-pms', ...named, 'unstated');
    expect(unstated.reported.get('practices')).toBe(
      'not stated: production refuses the client until set-practices states them',
    );
    expect((await copy.changedLines()).isKept).toBe(true);
  });

  it('are replaced by set-practices, also for a client of a trusted issuer', async () => {
    const of = ['set-practices', '--realm', 'demo', '--client-id', 'pms-demo', '--practices'];
    expect((await copy.runHere(...of, 'local:Oak:42')).code).toBe(0);
    expect(await practicesOf('pms-demo')).toEqual(listed.slice(1));
    const issuer = 'https://login.example';
    await writeFile(
      copy.path,
      JSON.stringify({ realms: [], trustedIssuers: [{ issuer, clients: [{ clientId: 'pms' }] }] }),
    );
    const others = ['set-practices', '--realm', issuer, '--client-id', 'pms', '--practices', 'any'];
    expect((await copy.runHere(...others)).code).toBe(0);
    expect(JSON.parse(await copy.text()).trustedIssuers[0].clients).toEqual([
      { clientId: 'pms', practices: 'any' },
    ]);
  });

  it.each([
    ['any with a code', ['any', 'ods:B82017'], 1],
    ['a code of an unknown code set', ['nhs:B82017'], 2],
    ['no practices', [], 2],
  ])('are refused, and nothing is changed: %s', async (_what, practices, expected) => {
    const stated = practices.flatMap((practice) => ['--practices', practice]);
    const of = ['set-practices', '--realm', 'demo', '--client-id', 'pms-demo'];
    const { code, errors } = await copy.runHere(...of, ...stated);
    expect(code).toBe(expected);
    expect(errors).toMatch(/^--practices /);
    expect(await copy.text()).toBe(copy.before);
  });

  it('are reported by registry check if they are missing', async () => {
    const named = ['--realm', 'demo', '--name', 'X', '--client-id', 'unstated'];
    await copy.runHere('add-pms', ...named);
    const { output } = await copy.runHere('check');
    const lines = output.split('\n').filter((line) => line.includes('.practices'));
    expect(lines).toEqual([
      'production refuses it: realms[0].clients[7].practices is required. List the practices that the client may launch for, or state "any"',
    ]);
  });
});

describe('add-host and add-client', () => {
  it('grant the right to issue launches (add-host) or the named rights (add-client)', async () => {
    await copy.runHere('add-realm', '--realm', 'east');
    const host = ['--realm', 'east', '--client-id', 'host', '--name', 'Host'];
    const bound = ['--practices', 'ods:B82017', '--ern', 'ern:east', '--ern', 'ern:west:user'];
    const { reported } = await copy.runHere('add-host', ...host, ...bound);
    expect(reported.get('practices')).toBe('B82017');
    expect(reported.get('token_endpoint')).toBe('{PUBLIC_URL}/idp/east/oauth2/v2.0/token');
    const environment = { PUBLIC_URL: 'https://launch.example' };
    const rolled = await copy.runWith(environment, 'roll-secret', ...host.slice(0, 4));
    expect(rolled.reported.get('token_endpoint')).toBe('https://launch.example/idp/east/oauth2/v2.0/token');
    expect(await copy.clientNamed('east', 'host')).toMatchObject({
      scopes: ['launch.issue'],
      practices: [{ system: 'ods-organization-code', code: 'B82017' }],
      erns: ['ern:east', 'ern:west:user'],
    });
    const other = ['--realm', 'east', '--client-id', 'other', '--name', 'Other', '--ern', 'east'];
    expect((await copy.runHere('add-host', ...other)).errors).toContain('--ern ');
    await copy.runHere(
      'add-client',
      '--realm',
      'east',
      '--client-id',
      'api',
      '--name',
      'API',
      '--scope',
      'token.introspect',
      '--scope',
      'audit.read',
    );
    expect((await copy.clientNamed('east', 'api'))?.scopes).toEqual(['token.introspect', 'audit.read']);
    expect((await copy.changedLines()).isKept).toBe(true);
  });
});

describe('add-partner', () => {
  it('registers a public client without a secret', async () => {
    const { code, reported } = await copy.runHere(
      'add-partner',
      ...partner,
      'newapp://launch',
      '--redirect-uri',
      'newapp://auth',
      '--redirect-uri',
      'http://127.0.0.1/callback',
      '--profile',
      'standard',
      '--backchannel-logout-uri',
      'https://new.example/logout',
    );
    expect(code).toBe(0);
    expect(reported.has('client_secret')).toBe(false);
    expect(reported.get('authorization_endpoint')).toBe(
      '{PUBLIC_URL}/idp/demo/desktop/oauth2/v2.0/authorize',
    );
    expect((await copy.realmNamed('demo/desktop'))?.desktop?.partners.at(-1)).toEqual({
      clientId: 'partner-new',
      name: 'New',
      profile: 'standard',
      redirectUris: ['newapp://auth', 'http://127.0.0.1/callback'],
      launchUrl: 'newapp://launch',
      backchannelLogoutUri: 'https://new.example/logout',
      scopes: ['openid', 'profile', 'email', 'offline_access', 'launch', 'resource.read'],
    });
    expect((await copy.changedLines()).isKept).toBe(true);
  });

  it('turns a realm of two segments into a desktop realm', async () => {
    const addresses = ['--launch-url', 'a:/l', '--redirect-uri', 'a:/r'];
    const named = ['--client-id', 'p', '--name', 'P', ...addresses];
    await copy.runHere('add-realm', '--realm', 'other/desktop');
    await copy.runHere('add-host', '--realm', 'other/desktop', '--client-id', 'h', '--name', 'H');
    expect((await copy.runHere('add-partner', '--realm', 'other/desktop', ...named)).code).toBe(0);
    expect((await copy.realmNamed('other/desktop'))?.desktop?.partners).toHaveLength(1);
    expect((await copy.runHere('add-partner', '--realm', 'demo', ...named)).errors).toContain(
      'must be two segments',
    );
  });

  it.each([
    ['https://p.example/auth?a=1', true],
    ['com.example.app:/auth', true],
    ['http://[::1]:4000/auth', true],
    ['${PUBLIC_URL}/demo/partner/callback', true],
    ['http://p.example/auth', false],
    ['http://localhost:3000/auth', true],
    ['http://localhost.attacker.example/auth', false],
    ['https://p.example/auth#part', false],
    ['https://user:secret@p.example/auth', false],
    ['https://p.example/ä', false],
    ['https://p.example/a b', false],
    ['HTTPS://p.example/auth', false],
    ['javascript://p.example/%0aalert(1)', false],
    ['file:///etc/passwd', false],
    ['//p.example/auth', false],
    ['partner', false],
  ])('accepts %s as a redirect URI: %s', async (address, isFine) => {
    const { code, errors } = await copy.runHere(
      'add-partner',
      ...partner,
      'newapp://launch',
      '--redirect-uri',
      address,
    );
    expect({ address, code }).toEqual({ address, code: isFine ? 0 : 2 });
    expect(errors).toMatch(isFine ? /^$/ : /^--redirect-uri must /);
  });
});

describe('roll-secret', () => {
  const of = ['--realm', 'demo', '--client-id', 'host-demo'];

  it('creates a new secret, and keeps the old secret for a day', async () => {
    const startedAt = Date.now();
    const { code, reported } = await copy.runHere('roll-secret', ...of);
    expect(code).toBe(0);
    const secrets = (await copy.clientNamed('demo', 'host-demo'))?.secrets ?? [];
    expect(secrets.map(({ sha256 }) => sha256)).toEqual([
      hashClientSecret('host-demo-secret'),
      hashClientSecret(String(reported.get('client_secret'))),
    ]);
    const rolledAt = Date.parse(secrets[0]?.expires ?? '') - 24 * 3_600_000;
    expect(rolledAt).toBeGreaterThanOrEqual(startedAt);
    expect(rolledAt).toBeLessThanOrEqual(Date.now());
    expect(secrets[1]).not.toHaveProperty('expires');
  });

  it('ends the old secret immediately with --keep-old-hours 0', async () => {
    const { reported } = await copy.runHere('roll-secret', ...of, '--keep-old-hours', '0');
    expect((await copy.clientNamed('demo', 'host-demo'))?.secrets).toEqual([
      { sha256: hashClientSecret(String(reported.get('client_secret'))) },
    ]);
  });

  it('refuses a third secret while two secrets are live, and explains how to end both', async () => {
    await copy.runHere('roll-secret', ...of);
    const rolled = await copy.text();
    const { code, errors } = await copy.runHere('roll-secret', ...of);
    expect(code).toBe(1);
    expect(errors).toMatch(
      /^Two secrets are live, one until .*\. Use --keep-old-hours 0 to end both at once\n$/,
    );
    expect(await copy.text()).toBe(rolled);
  });

  it('keeps an earlier expiry of the old secret', async () => {
    const only = `"sha256": "${hashClientSecret('host-demo-secret')}"`;
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    await writeFile(copy.path, copy.before.replace(only, `${only}, "expires": "${expires}"`));
    await copy.runHere('roll-secret', ...of);
    expect((await copy.clientNamed('demo', 'host-demo'))?.secrets[0]).toMatchObject({ expires });
  });

  it('removes an expired secret', async () => {
    const ended = `"sha256": "${hashClientSecret('host-demo-secret')}"`;
    await writeFile(copy.path, copy.before.replace(ended, `${ended}, "expires": "2020-01-01T00:00:00Z"`));
    const { reported } = await copy.runHere('roll-secret', ...of);
    expect((await copy.clientNamed('demo', 'host-demo'))?.secrets).toEqual([
      { sha256: hashClientSecret(String(reported.get('client_secret'))) },
    ]);
  });

  it('refuses an unknown client', async () => {
    const { code, errors } = await copy.runHere('roll-secret', '--realm', 'demo', '--client-id', 'nobody');
    expect({ code, errors }).toEqual({ code: 1, errors: 'The realm demo has no client nobody\n' });
  });
});

describe('an invalid command line of registry', () => {
  it.each([[[]], [['constructor']], [['add-pms', '--nonsense', 'x']], [['add-pms', 'extra']]])(
    'exits with 2 and an explanation: %j',
    async (args) => {
      const { code, errors } = await copy.runHere(...args);
      expect(code).toBe(2);
      expect(errors.trim()).not.toBe('');
    },
  );
});

describe('registry at a terminal', () => {
  it('asks for missing options, and again after an invalid answer', async () => {
    const input = new PassThrough();
    const [output, errors] = [new PassThrough(), new PassThrough()];
    const asked: string[] = [];
    const answers = [
      '',
      'demo/desktop',
      'typed',
      'Typed in',
      'http://p.example/l',
      'typed://l',
      'typed://a typed://b',
      '',
      'openid launch',
      '',
    ];
    errors.on('data', (chunk: Buffer) => {
      if (!String(chunk).endsWith(': ')) return;
      asked.push(String(chunk));
      input.write(`${answers[asked.length - 1]}\n`);
    });
    const terminal = { input, output, errors };
    const code = await runOps({
      args: ['registry', 'add-partner'],
      environment: { REGISTRY_FILE: copy.path },
      terminal,
      now: Date.now(),
    });
    expect({ code, asked: asked.length }).toEqual({ code: 0, asked: answers.length });
    expect(asked[1]).toContain('An answer is required');
    expect(asked[5]).toContain('must be https');
    expect((await copy.realmNamed('demo/desktop'))?.desktop?.partners.at(-1)).toEqual({
      clientId: 'typed',
      name: 'Typed in',
      redirectUris: ['typed://a', 'typed://b'],
      launchUrl: 'typed://l',
      scopes: ['openid', 'launch'],
    });
  });
});
