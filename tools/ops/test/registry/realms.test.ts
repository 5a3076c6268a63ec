import { writeFile } from 'node:fs/promises';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openRegistryCopy } from './registry-copy.ts';

let copy: Awaited<ReturnType<typeof openRegistryCopy>>;
beforeEach(async () => {
  copy = await openRegistryCopy();
});
afterEach(async () => copy.remove());

const issuer = 'https://login.example/tenant';
const registryNow = async () =>
  parseRegistry(JSON.parse((await copy.text()).replaceAll('${PUBLIC_URL}', 'https://p.example')));

describe('an unknown realm', () => {
  const addresses = ['--launch-url', 'a:/l', '--redirect-uri', 'a:/r'];
  const named = ['--client-id', 'new', '--name', 'New'];

  it.each([
    ['add-pms', ['--realm', 'dmeo', ...named]],
    ['add-host', ['--realm', 'dmeo', ...named]],
    ['add-client', ['--realm', 'dmeo', ...named, '--scope', 'audit.read']],
    ['add-partner', ['--realm', 'demo/dekstop', ...named, ...addresses]],
    ['suspend', ['--realm', 'dmeo', '--client-id', 'pms-demo']],
    ['roll-secret', ['--realm', 'dmeo', '--client-id', 'pms-demo']],
  ])('is refused by %s with a list of the known realms', async (command, args) => {
    const { code, errors } = await copy.runHere(command, ...args);
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(
        /^There is no realm \S+\. Known realms: demo, demo\/desktop\. Use add-realm /,
      ),
    });
    expect(await copy.text()).toBe(copy.before);
  });
});

describe('add-realm', () => {
  it('creates a realm with its settings, without changing other lines', async () => {
    const settings = [
      '--refresh-token-seconds',
      '600',
      '--signing-algorithm',
      'ES256',
      '--sends-issuer',
      'no',
    ];
    expect((await copy.runHere('add-realm', '--realm', 'west/desktop', '--desktop', ...settings)).code).toBe(
      0,
    );
    expect(await copy.realmNamed('west/desktop')).toEqual({
      realm: 'west/desktop',
      signingAlgorithm: 'ES256',
      clients: [],
      desktop: { refreshTokenSeconds: 600, sendsIssuer: false, partners: [] },
    });
    expect((await copy.changedLines()).isKept).toBe(true);
  });

  it.each([
    ['a realm that exists', ['add-realm', '--realm', 'demo'], /already/, 1],
    [
      'a lifetime that is too short',
      ['add-realm', '--realm', 'x', '--access-token-seconds', '5'],
      /^--access-token-seconds must be >= 60/,
      2,
    ],
    [
      'an unsupported algorithm',
      ['add-realm', '--realm', 'x', '--signing-algorithm', 'HS256'],
      /^--signing-algorithm/,
      2,
    ],
  ])('leaves the registry unchanged and reports an error for %s', async (_what, args, said, expected) => {
    const { code, errors } = await copy.runHere(...args);
    expect({ code, errors }).toEqual({ code: expected, errors: expect.stringMatching(said) });
    expect(await copy.text()).toBe(copy.before);
  });
});

describe('a trusted issuer', () => {
  it('is added with its settings, and its clients are added and removed', async () => {
    const terms = ['--client-id-claim', 'cid', '--accepts-any-token-type', 'yes', '--audience', 'api://oltr'];
    await copy.runHere(
      'add-issuer',
      '--issuer',
      issuer,
      ...terms,
      '--jwks-uri',
      'https://login.example/keys',
      '--grant',
      'ocs-launch.write',
    );
    const policy = ['--practices', 'any', '--frame-ancestor', 'https://pms.example'];
    const client = ['--issuer', issuer, '--client-id', '{a b}'];
    expect((await copy.runHere('add-issuer-client', ...client, ...policy)).code).toBe(0);
    expect((await registryNow()).trustedIssuers).toEqual([
      {
        issuer,
        clientIdClaim: 'cid',
        acceptsAnyTokenType: true,
        audiences: ['api://oltr'],
        grants: ['ocs-launch.write'],
        jwksUri: 'https://login.example/keys',
        clients: [{ clientId: '{a b}', practices: 'any', frameAncestors: ['https://pms.example'] }],
      },
    ]);
    expect((await copy.runHere('remove', '--realm', issuer, '--client-id', '{a b}')).code).toBe(0);
    expect((await registryNow()).trustedIssuers).toMatchObject([{ issuer, clients: [] }]);
  });

  it('is not created by add-issuer-client', async () => {
    await writeFile(copy.path, JSON.stringify({ realms: [], trustedIssuers: [{ issuer, clients: [] }] }));
    const client = ['--issuer', `${issuer}s`, '--client-id', 'pms'];
    expect(await copy.runHere('add-issuer-client', ...client)).toMatchObject({
      code: 1,
      errors: `There is no trusted issuer ${issuer}s. Known issuers: ${issuer}. Use add-issuer to add one\n`,
    });
  });
});
