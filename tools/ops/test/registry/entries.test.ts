import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runOpsHere } from '../run-ops.ts';
import { openRegistryCopy } from './registry-copy.ts';

let copy: Awaited<ReturnType<typeof openRegistryCopy>>;
beforeEach(async () => {
  copy = await openRegistryCopy();
});
afterEach(async () => copy.remove());

const pms = ['--realm', 'demo', '--client-id', 'pms-demo'];
const partner = ['--realm', 'demo/desktop', '--client-id', 'partner-demo'];

describe('add-pms, add-client and add-partner', () => {
  const named = ['--realm', 'demo', '--client-id', 'new', '--name', 'New'];

  it('store the page for refused launches, but refuse an invalid address', async () => {
    for (const refused of [
      'http://pms.example/refused',
      'https://user:secret@pms.example/refused',
      'https://pms.example/refused#part',
      'javascript:alert(1)',
      '/refused',
    ]) {
      expect((await copy.runHere('add-pms', ...named, '--launch-error-page', refused)).code).toBe(2);
    }
    expect(await copy.text()).toBe(copy.before);
    const page = 'http://localhost:3000/refused';
    expect((await copy.runHere('add-pms', ...named, '--launch-error-page', page)).code).toBe(0);
    expect(await copy.clientNamed('demo', 'new')).toMatchObject({ launchErrorPage: page });
  });

  it('require navigations, which registry check refuses if PUBLIC_URL is http', async () => {
    expect((await copy.runHere('add-pms', ...named, '--require-navigation', 'yes')).code).toBe(0);
    expect(await copy.clientNamed('demo', 'new')).toMatchObject({ requireNavigation: true });
    const checkAt = (url: string) => copy.runWith({ PUBLIC_URL: url }, 'check');
    expect((await checkAt('https://launch.example')).code).toBe(0);
    expect(await checkAt('http://launch.example')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/realms\[0\]\.clients\[\d+\]\.requireNavigation must not be true/),
    });
  });

  it('store client certificates, PAR and DPoP', async () => {
    const name = ['--tls-client-auth-san-dns', 'pms.example.org'];
    const bound = ['--tls-client-certificate-bound-access-tokens', 'yes'];
    await copy.runHere('add-pms', ...named, ...name, ...bound);
    expect(await copy.clientNamed('demo', 'new')).toMatchObject({
      tlsClientAuthSanDns: 'pms.example.org',
      tlsClientCertificateBoundAccessTokens: true,
    });
    const proofs = ['--dpop-bound-access-tokens', 'yes', '--require-pushed-authorization-requests', 'no'];
    const ofPartner = ['--realm', 'demo/desktop', '--client-id', 'new', '--name', 'New'];
    const addresses = ['--launch-url', 'https://p.example/l', '--redirect-uri', 'https://p.example/r'];
    const thumbprint = ['--tls-client-certificate-thumbprint', 'A'.repeat(43)];
    const given = [...ofPartner, ...addresses, ...proofs, ...thumbprint];
    const { code } = await copy.runHere('add-partner', ...given);
    const { desktop } = (await copy.realmNamed('demo/desktop')) ?? {};
    expect([code, desktop?.partners.find(({ clientId }) => clientId === 'new')]).toEqual([
      0,
      expect.objectContaining({
        dpopBoundAccessTokens: true,
        requirePushedAuthorizationRequests: false,
        tlsClientCertificateThumbprints: ['A'.repeat(43)],
      }),
    ]);
    expect((await copy.changedLines()).isKept).toBe(true);
  });

  it('create no secret for a client with a certificate', async () => {
    const thumbprint = ['--tls-client-certificate-thumbprint', 'B'.repeat(43)];
    const { reported } = await copy.runHere('add-host', ...named, ...thumbprint);
    expect(reported.has('client_secret')).toBe(false);
    const bound = ['--realm', 'demo', '--client-id', 'bound', '--name', 'Bound'];
    const isBound = ['--tls-client-certificate-bound-access-tokens', 'yes'];
    expect((await copy.runHere('add-host', ...bound, ...isBound)).reported.has('client_secret')).toBe(true);
  });

  it.each([
    ['both sources of keys', ['--client-id', 'new', '--jwks', 'x', '--jwks-uri', 'https://k.example'], 2],
    ['a value other than yes or no', ['--client-id', 'new', '--require-navigation', 'true'], 2],
    ['the id of another client', ['--client-id', 'pms-demo'], 1],
  ])('refuse %s, and change nothing', async (_what, args, expected) => {
    const owner = ['--realm', 'demo', '--name', 'New'];
    expect((await copy.runHere('add-pms', ...owner, ...args)).code).toBe(expected);
    expect(await copy.text()).toBe(copy.before);
  });
});

describe('a sandbox client', () => {
  const issuer = 'https://login.example';
  const named = (clientId: string) => ['--client-id', clientId, '--sandbox', 'yes'];
  const inDemo = ['--realm', 'demo', '--name', 'Sandbox'];

  it('is registered by every command that adds a client, and is listed as a sandbox client', async () => {
    await copy.runHere('add-issuer', '--issuer', issuer);
    for (const command of [
      ['add-pms', ...inDemo, ...named('sandbox-1'), '--practices', 'any'],
      ['add-host', ...inDemo, ...named('sandbox-2')],
      ['add-client', ...inDemo, ...named('sandbox-3'), '--scope', 'launch.issue'],
      ['add-issuer-client', '--issuer', issuer, ...named('sandbox-4')],
    ])
      expect(await copy.runHere(...command)).toMatchObject({ code: 0, errors: '' });
    expect(await copy.clientNamed('demo', 'sandbox-1')).toMatchObject({ sandbox: true });
    expect((await copy.runHere('list')).output.match(/ sandbox +sandbox-[1-4] /g)).toHaveLength(4);
    const { clients } = JSON.parse((await copy.runHere('list', '--json')).output);
    expect(clients).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ clientId: 'sandbox-4', isSandbox: true }),
        expect.objectContaining({ clientId: 'pms-demo', isSandbox: false }),
      ]),
    );
  });

  it('is refused if it has a right to read records, and the file does not change', async () => {
    const added = ['add-client', ...inDemo, ...named('sandbox-5'), '--scope', 'audit.read'];
    expect(await copy.runHere(...added)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('a sandbox client must have no other rights'),
    });
    expect(await copy.text()).toBe(copy.before);
  });
});

describe('registry schema', () => {
  it('prints the JSON Schema of the file, which the file may reference for editors', async () => {
    const { output } = await runOpsHere(['registry', 'schema'], {});
    const { required, properties } = JSON.parse(output);
    expect(required).toEqual(['realms']);
    expect(properties.realms.items.properties.accessTokenSeconds).toEqual({
      type: 'integer',
      title: 'Lifetime of access tokens',
      minimum: 60,
      maximum: 86_400,
    });
    await writeFile(copy.path, copy.before.replace('{', '{ "$schema": "./registry.schema.json",'));
    expect((await copy.runHere('check')).errors).toBe('');
  });
});

describe('the directory file of a client', () => {
  it('is refused if it is missing or invalid, by add-pms and by registry check', async () => {
    const named = ['--realm', 'demo', '--client-id', 'new', '--name', 'New', '--directory'];
    const row = 'kind,system,value,practice\r\n';
    await writeFile(join(copy.folder, 'broken.csv'), 'kind,value\r\n');
    await writeFile(join(copy.folder, 'north.csv'), `${row}practice,local-org-code,P1,\r\n`);
    await writeFile(join(copy.folder, 'faulty.json'), '{\n  "practices": [{ "system": "ods" }]\n}');
    expect((await copy.runHere('add-pms', ...named, 'faulty.json')).errors).toMatch(
      /^ {2}line 2, column 17: practices\[0\]\.code is required$/m,
    );
    for (const name of ['missing.json', 'broken.csv']) {
      const { code, errors } = await copy.runHere('add-pms', ...named, name);
      expect([code, errors]).toEqual([1, expect.stringContaining(`The directory ${name} is invalid`)]);
    }
    expect(await copy.text()).toBe(copy.before);
    expect((await copy.runHere('add-pms', ...named, 'north.csv')).errors).toBe('');
    await writeFile(
      copy.path,
      copy.before.replace('"practices": "any"', '"practices": "any", "directory": "broken.csv"'),
    );
    expect(await copy.runHere('check')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('broken.csv'),
    });
  });
});

describe('the earlier codes of a practice', () => {
  it.each([
    ['to which a client is bound', '[{ "system": "ods-organization-code", "code": "B1" }]'],
    ['that is in a directory', '"any", "directory": "own.csv"'],
  ])('are refused by registry check if they contain a code %s', async (_, practices) => {
    await writeFile(
      join(copy.folder, 'own.csv'),
      'kind,system,value,practice\npractice,ods-organization-code,b1,\n',
    );
    const ods = (code: string) => ({ system: 'ods-organization-code', code });
    const succeeding = { practices: [{ ...ods('B2'), formerly: [ods('B1')] }] };
    const added = copy.before.replace('{', `{ ${JSON.stringify(succeeding).slice(1, -1)},`);
    await writeFile(copy.path, added);
    expect((await copy.runHere('check')).errors).toBe('');
    await writeFile(copy.path, added.replace('"practices": "any"', `"practices": ${practices}`));
    const { code, errors } = await copy.runHere('check');
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining('practices[0].formerly[0] must not be in use, but is in'),
    ]);
  });
});

describe('a registry entry', () => {
  it.each([
    ['a client', pms],
    ['a partner', partner],
  ])('for %s can be suspended, and resumed unchanged', async (_what, of) => {
    expect((await copy.runHere('suspend', ...of)).code).toBe(0);
    expect((await copy.changedLines()).added.map((line) => line.trim())).toEqual(['"suspended": true']);
    expect((await copy.runHere('suspend', ...of)).errors).toContain('already suspended');
    expect((await copy.runHere('resume', ...of)).code).toBe(0);
    expect(await copy.text()).toBe(copy.before);
    expect((await copy.runHere('resume', ...of)).errors).toContain('is not suspended');
  });

  it('can be removed if it is the first, the last or the only entry of its list', async () => {
    const clients = (...ids: string[]) =>
      JSON.stringify(
        { realms: [{ realm: 'demo', clients: ids.map((clientId) => aClient(clientId)) }] },
        null,
        2,
      );
    const remove = async (clientId: string) =>
      copy.runHere('remove', '--realm', 'demo', '--client-id', clientId);
    await writeFile(copy.path, clients('a', 'b', 'c'));
    for (const [id, left] of [
      ['a', ['b', 'c']],
      ['c', ['b']],
    ] as const) {
      expect((await remove(id)).code).toBe(0);
      expect(await copy.text()).toBe(clients(...left));
    }
    await remove('b');
    expect((await copy.realmNamed('demo'))?.clients).toEqual([]);
    expect(await remove('b')).toMatchObject({ code: 1, errors: 'The realm demo has no client b\n' });
  });
});

const aClient = (clientId: string) => ({ clientId, name: clientId, secrets: [], scopes: [] });

describe('registry list', () => {
  it('shows every client and partner with its state, but no secrets', async () => {
    await copy.runHere('suspend', ...pms);
    await copy.runHere('add-realm', '--realm', 'west');
    const { output } = await copy.runHere('list');
    expect(output).toMatch(
      /^demo +pms +pms-demo +suspended +secret +no end +any +\S+\/callbacks \(no end\) +Demo practice management system$/m,
    );
    expect(output).toMatch(/^demo +host +host-demo +active +secret +no end +any +- +/m);
    expect(output).toMatch(/^demo\/desktop +partner +partner-native +active +none +- +- +- +/m);
    expect(output).toMatch(/^west +\(no clients\)$/m);
    const { output: json } = await copy.runHere('list', '--json');
    expect(JSON.parse(json)).toMatchObject({
      realms: [{ realm: 'demo' }, { realm: 'demo/desktop', isDesktop: true }, { realm: 'west' }],
      clients: expect.arrayContaining([
        expect.objectContaining({
          owner: 'demo',
          clientId: 'pms-demo',
          isSuspended: true,
          practices: 'any',
          secrets: [{}],
          callbackSecrets: [{}],
        }),
      ]),
    });
    expect(`${output}${json}`).not.toMatch(/[0-9a-f]{64}|demo\.EeTG/);
  });

  it('shows the expiry of each client secret and callback secret', async () => {
    const host = ['--realm', 'demo', '--client-id', 'host-demo'];
    const { reported } = await copy.runHere('roll-secret', ...host);
    const until = String(reported.get('old secret works until'));
    expect(until).toMatch(/^20\d\d-/);
    expect(reported.get('new secret works')).toBe('within seconds, once the services have read the file');
    await copy.runHere('roll-callback-secret', ...pms, '--keep-old-hours', '2');
    await copy.runHere('add-pms', '--realm', 'demo', '--client-id', 'unstated', '--name', 'X');
    const { output } = await copy.runHere('list');
    expect(output).toContain(` until ${until}, no end `);
    expect(output).toMatch(/callbacks \(until 20\S+Z, no end\)/);
    expect(output).toMatch(/^demo +pms +unstated .* not stated +- +X$/m);
    const ended = await copy.runHere('roll-secret', ...host, '--keep-old-hours', '0');
    expect(ended.reported.get('old secret works until')).toBe('now');
  });
});
