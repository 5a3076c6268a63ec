import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { describe, expect, it } from '@jest/globals';
import { parseRegistry } from '../src/registry-reading.ts';
import { withoutUndefined } from '../src/schema.ts';

const secret = (text: string) => ({ sha256: createHash('sha256').update(text).digest('hex') });
const aClient = (changes: object = {}) => ({
  clientId: 'pms',
  name: 'A practice management system',
  secrets: [secret('one')],
  scopes: ['ocs-launch.write'],
  ...changes,
});
const aCallback = (changes: object = {}) => ({
  url: 'https://pms.example/callbacks?practice=7',
  secrets: [{ sealed: `key1.${'A'.repeat(80)}` }],
  ...changes,
});
const aRealm = (changes: object = {}) => ({ realm: 'demo', clients: [aClient()], ...changes });
const aPartner = (changes: object = {}) => ({
  clientId: 'partner',
  name: 'A partner application',
  redirectUris: ['https://partner.example/auth?tenant=7'],
  launchUrl: 'partnerapp://launch',
  scopes: ['openid', 'launch'],
  ...changes,
});
const anIssuer = (changes: object = {}) => ({
  issuer: 'https://login.example/tenant',
  clients: [{ clientId: 'pms' }],
  ...changes,
});

/** Returns the problems that the error for an invalid registry lists, one for each line. */
function refusalOf(registry: unknown, publicUrl?: string): string[] {
  try {
    parseRegistry(registry, withoutUndefined({ publicUrl }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return String(error)
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  throw new Error('The registry was accepted');
}

describe('a registry', () => {
  it('is returned unchanged if it is valid', () => {
    const registry = {
      realms: [
        aRealm({ signingAlgorithm: 'EdDSA', accessTokenSeconds: 60 }),
        aRealm({
          realm: 'demo/desktop',
          clients: [
            aClient({
              secrets: [{ ...secret('one'), expires: '2026-03-02T09:30:00Z' }, secret('two')],
              requestsPerSecond: 5,
              frameAncestors: ['https://pms.example'],
              resultOrigin: 'https://pms.example:8443',
              launchErrorPage: 'https://pms.example/refused?site=7',
              callback: aCallback(),
            }),
          ],
        }),
      ],
      trustedIssuers: [
        anIssuer({
          jwksUri: 'https://login.example/keys',
          audiences: ['api://x'],
          rightClaims: ['roles'],
          clientIdClaim: 'cid',
          acceptsMissingKeyId: true,
          clients: [{ clientId: 'pms', callback: aCallback() }],
        }),
      ],
    };
    expect(parseRegistry(registry)).toEqual(registry);
    expect(parseRegistry({ realms: [] })).toEqual({ realms: [] });
  });

  it.each([
    '',
    'realms[0]',
    'realms[0].clients[0]',
    'realms[0].clients[0].secrets[0]',
    'realms[0].clients[0].practices[0]',
    'realms[0].clients[0].callback',
    'realms[0].clients[0].callback.secrets[0]',
    'realms[0].desktop',
    'realms[0].desktop.partners[0]',
    'trustedIssuers[0]',
    'trustedIssuers[0].clients[0]',
    'practices[0]',
    'practices[0].formerly[0]',
  ])('must not contain an unknown setting, such as %s.unheardOf', (path) => {
    const ods = { system: 'ods-organization-code', code: 'B1' };
    const clients = [aClient({ practices: [ods], callback: aCallback() })];
    const registry = {
      realms: [aRealm({ clients, desktop: { partners: [aPartner()] } })],
      trustedIssuers: [anIssuer()],
      practices: [{ ...ods, formerly: [ods] }],
    } as Json;
    const refusals = refusalOf(replaceAt(registry, `${path}.unheardOf`, true));
    expect(refusals).toContain(`${path} has an unknown property`.trim());
  });

  it('may contain the same client id in two realms or under two issuers', () => {
    expect(() =>
      parseRegistry({
        realms: [aRealm(), aRealm({ realm: 'other' })],
        trustedIssuers: [anIssuer(), anIssuer({ issuer: 'https://other.example' })],
      }),
    ).not.toThrow();
  });

  it('is refused with an error that lists every problem, including duplicates', () => {
    const refusal = refusalOf({
      realms: [
        aRealm({ signingAlgorithm: 'HS256', accessTokenSeconds: 59 }),
        aRealm({
          clients: [
            aClient({ clientId: 'has space', scopes: ['two words'] }),
            aClient({ name: undefined, frameAncestors: ['https://pms.example/path'] }),
            aClient({ secrets: [{ sha256: 'plain' }, { ...secret('two'), expires: 'Mar 2' }] }),
          ],
        }),
      ],
      trustedIssuers: [anIssuer({ rightClaims: ['groups'], clientIdClaim: '', jwksUri: 'login.example' })],
    });
    expect(refusal).toEqual(
      expect.arrayContaining([
        'realms[0].signingAlgorithm must be one of RS256, ES256, EdDSA',
        expect.stringMatching(/^realms\[0\]\.accessTokenSeconds must be >= 60$/),
        'realms[1] is registered twice',
        'realms[1].clients[0].clientId must be 1 to 200 letters, digits or the characters . _ ~ -, but not . or ..',
        'realms[1].clients[0].scopes[0] must be an OAuth scope token',
        'realms[1].clients[1].name is required',
        expect.stringMatching(/^realms\[1\]\.clients\[1\]\.frameAncestors\[0\] must be an origin/),
        'realms[1].clients[2] is registered twice',
        'realms[1].clients[2].secrets[0].sha256 must be 64 hexadecimal digits',
        expect.stringMatching(
          /^realms\[1\]\.clients\[2\]\.secrets\[1\]\.expires must be a date and time that exists/,
        ),
        'trustedIssuers[0].rightClaims[0] must be one of scope, scp, roles',
        'trustedIssuers[0].clientIdClaim must be the name of a claim',
        expect.stringMatching(/^trustedIssuers\[0\]\.jwksUri /),
      ]),
    );
    expect(refusal).toHaveLength(13);
  });

  it('may allow a client any practice or a list of practices', () => {
    const listed = [
      { system: 'ods-organization-code', code: 'B82017' },
      { system: 'local-org-code', code: '0042' },
    ];
    for (const practices of ['any', listed]) {
      const registry = {
        realms: [aRealm({ clients: [aClient({ practices })] })],
        trustedIssuers: [anIssuer({ clients: [{ clientId: 'pms', practices }] })],
      };
      expect(parseRegistry(registry)).toEqual(registry);
    }
  });

  it.each([
    ['all', ' must be "any" or a list of practices'],
    [[], ' must have at least 1 entry'],
    [['B82017'], '[0] must be of type object'],
    [
      [{ system: 'performing-org', code: 'RCB00' }],
      '[0].system must be one of ods-organization-code, local-org-code',
    ],
    [[{ system: 'local-org-code', code: '' }], '[0].code must not be empty'],
    [[{ system: 'local-org-code' }], '[0].code is required'],
    [{ system: 'local-org-code', code: '0042' }, ' must be of type string,array'],
  ])('must not contain a client whose practices are %j', (practices, said) => {
    const registry = { realms: [aRealm({ clients: [aClient({ practices })] })] };
    expect(refusalOf(registry)).toEqual([`realms[0].clients[0].practices${said}`]);
  });

  const hosts = (...stated: unknown[]) => ({
    realms: stated.map((erns, at) =>
      aRealm({ realm: `realm-${at}`, clients: [aClient({ scopes: ['launch.issue'], erns })] }),
    ),
  });

  it('may contain host applications whose prefixes of ERNs share no whole segment, and one host with any', () => {
    for (const stated of [
      [
        ['ern:demo', 'ern:b:user'],
        ['ern:demo-ehr', 'ern:b:org'],
      ],
      ['any'],
    ])
      expect(parseRegistry(hosts(...stated))).toEqual(hosts(...stated));
  });

  it.each([
    ['contain any', ['ern:demo'], 'any'],
    ['are equal in another case', ['ern:x', 'ern:demo'], ['ern:Demo']],
    ['begin with those of the other', ['ern:demo'], ['ern:demo:user']],
    ['are the beginning of those of the other', ['ern:demo:user'], ['ern:demo']],
  ])('must not contain two host applications whose prefixes %s', (_how, one, other) => {
    const said = 'realms[1].clients[0].erns must not overlap those of realms[0].clients[0]';
    expect(refusalOf(hosts(one, other))).toEqual([said]);
  });

  it.each([
    ['all', ' must be "any" or a list of prefixes'],
    [[], ' must have at least 1 entry'],
    ...['any', 'ern', 'ern:', 'ern:demo:', 'urn:demo', 'ern:a b'].map((prefix) => [
      [prefix],
      '[0] must be whole segments of a resource name, such as ern:demo-ehr',
    ]),
  ])('must not contain a host application whose prefixes of ERNs are %j', (erns, said) => {
    expect(refusalOf(hosts(erns))).toEqual([`realms[0].clients[0].erns${String(said)}`]);
  });

  it('may contain sandbox clients in realms and under trusted issuers, if they may only launch', () => {
    const sandbox = (scopes: string[]) => aClient({ sandbox: true, scopes });
    for (const scopes of [[], ['ocs-launch.write'], ['launch.issue', 'ocs-launch.write']]) {
      const registry = {
        realms: [aRealm({ clients: [sandbox(scopes)] })],
        trustedIssuers: [anIssuer({ clients: [{ clientId: 'pms', sandbox: true }] })],
      };
      expect(parseRegistry(registry)).toEqual(registry);
    }
  });

  it.each(['audit.read', 'token.introspect', 'ocs-launch.read', 'LAUNCH.ISSUE'])(
    'must not contain a sandbox client with the right %s',
    (right) => {
      const clients = [true, false, undefined].map((sandbox, at) =>
        aClient({ clientId: `client-${at}`, sandbox, scopes: ['ocs-launch.write', right] }),
      );
      expect(refusalOf({ realms: [aRealm({ clients: JSON.parse(JSON.stringify(clients)) })] })).toEqual([
        'realms[0].clients[0].scopes[1] must be one of ocs-launch.write, launch.issue, because a sandbox client must have no other rights',
      ]);
    },
  );

  it.each([
    ['a realm', { realms: [aRealm(), aRealm()] }, 'realms[1]'],
    ['a client', { realms: [aRealm({ clients: [aClient(), aClient()] })] }, 'realms[0].clients[1]'],
    [
      'a partner',
      { realms: [aRealm({ desktop: { partners: [aPartner(), aPartner()] } })] },
      'realms[0].desktop.partners[1]',
    ],
    [
      'an id that is both a client and a partner of a realm',
      {
        realms: [
          aRealm({
            clients: [aClient()],
            desktop: { partners: [aPartner({ clientId: aClient().clientId })] },
          }),
        ],
      },
      'realms[0].desktop.partners[0]',
    ],
    ['an issuer', { realms: [], trustedIssuers: [anIssuer(), anIssuer()] }, 'trustedIssuers[1]'],
    [
      "an issuer's client",
      {
        realms: [],
        trustedIssuers: [anIssuer({ clients: [{ clientId: 'pms' }, { clientId: 'pms' }] })],
      },
      'trustedIssuers[0].clients[1]',
    ],
  ])('must not contain duplicates: %s', (_what, registry, path) => {
    expect(refusalOf(registry)).toEqual([`${path} is registered twice`]);
  });

  it.each(['tfp', 'tfp/north', 'assets', 'launches', 'launches/north', 'north/launches'])(
    'must not contain the realm %s, because its addresses would be those of something else',
    (realm) => {
      expect(refusalOf({ realms: [aRealm({ realm: 'tfp-north' }), aRealm({ realm })] })).toEqual([
        expect.stringMatching(/^realms\[1\]\.realm must be one or two path segments of .* launches$/),
      ]);
    },
  );

  it.each([
    ['a client id of two dots', { clientId: '..' }, 'clientId'],
    ['a name with an escape sequence', { name: 'Elm\u001b[2J' }, 'name'],
    ['a directory outside its folder', { directory: '../../etc/passwd' }, 'directory'],
    ['a directory that is a folder', { directory: '..' }, 'directory'],
  ])('must not contain %s', (_what, members, name) => {
    const [client] = aRealm().clients;
    expect(refusalOf({ realms: [aRealm({ clients: [{ ...client, ...members }] })] })).toEqual([
      expect.stringContaining(`realms[0].clients[0].${name} must be `),
    ]);
  });

  it.each(['/idp/north/v2.0', '/IDP/North/v2.0', '/idp/not-yet-registered/v2.0'])(
    'must not list an issuer of this platform under trustedIssuers: %s',
    (path) => {
      const publicUrl = 'https://launch.example';
      const registry = { realms: [aRealm()], trustedIssuers: [anIssuer({ issuer: publicUrl + path })] };
      expect(() => parseRegistry(registry, { publicUrl })).toThrow(
        'trustedIssuers[0].issuer is an issuer of this platform. Register a realm instead',
      );
      expect(() => parseRegistry(registry, { publicUrl: 'https://other.example' })).not.toThrow();
    },
  );

  it.each(['audit.read', 'launch.issue', 'token.introspect', 'ocs-launch.read', '*'])(
    'must not allow a trusted issuer to grant %s, because it may grant only ocs-launch.write',
    (right) => {
      const trustedIssuers = [anIssuer({ grants: ['ocs-launch.write', right] })];
      expect(refusalOf({ realms: [], trustedIssuers })).toEqual([
        'trustedIssuers[0].grants[1] must be ocs-launch.write',
      ]);
    },
  );

  it.each(['https://p.example', 'p:/auth', 'com.example.app://auth', 'http://127.0.0.1/callback'])(
    'accepts %s as launch URL and redirect URI of a partner',
    (address) => {
      const partners = [aPartner({ launchUrl: address, redirectUris: [address] })];
      expect(() => parseRegistry({ realms: [aRealm({ desktop: { partners } })] })).not.toThrow();
    },
  );

  it.each([
    'partner',
    '//p.example',
    'mailto:p',
    'HTTPS://p.example',
    'https://p.example/#part',
    'https://p.example/a b',
    'https://p.example/é',
    'https://p.example/\r\nX: y',
    'javascript://p.example',
    'data:/text',
    'file:///etc/passwd',
  ])('refuses %j as the launch URL of a partner', (address) => {
    const partners = [aPartner({ launchUrl: address })];
    expect(refusalOf({ realms: [aRealm({ desktop: { partners } })] })).toEqual([
      'realms[0].desktop.partners[0].launchUrl must be an absolute address without a fragment',
    ]);
  });

  it('accepts at most two secrets for a client', () => {
    const withSecrets = (...secrets: object[]) => ({
      realms: [aRealm({ clients: [aClient({ secrets })] })],
    });
    expect(() => parseRegistry(withSecrets())).not.toThrow();
    expect(() => parseRegistry(withSecrets(secret('1'), secret('2')))).not.toThrow();
    expect(refusalOf(withSecrets(secret('1'), secret('2'), secret('3')))).toEqual([
      'realms[0].clients[0].secrets must have at most 2 entries',
    ]);
  });

  it.each(['2023-02-29T00:00:00Z', '2026-03-02', '2026-03-02T09:30:00', 'never', '5'])(
    'refuses %s as the expiry of a secret',
    (expires) => {
      const clients = [aClient({ secrets: [{ ...secret('1'), expires }] })];
      expect(refusalOf({ realms: [aRealm({ clients })] })).toEqual([
        expect.stringMatching(/^realms\[0\]\.clients\[0\]\.secrets\[0\]\.expires /),
      ]);
    },
  );

  it.each([
    'https://pms.example',
    'https://pms.example?a=1',
    'http://127.0.0.1:9000/callbacks',
    'https://[2001:db8::1]/x',
  ])('accepts %s as the URL of a callback', (url) => {
    const clients = [aClient({ callback: aCallback({ url }) })];
    expect(() => parseRegistry({ realms: [aRealm({ clients })] })).not.toThrow();
  });

  it.each([
    'pms.example',
    'ftp://pms.example/x',
    'https://user:secret@pms.example/x',
    'https://pms.example/x#part',
    'https://pms.example/a b',
    'https://pms.example/\r\nX: y',
    'https:///x',
  ])('refuses %j as the URL of a callback', (url) => {
    const clients = [aClient({ callback: aCallback({ url }) })];
    expect(refusalOf({ realms: [aRealm({ clients })] })).toEqual([
      'realms[0].clients[0].callback.url must be an absolute http or https address without user, password or fragment',
    ]);
  });

  const navigating = (requireNavigation: boolean) => ({
    realms: [aRealm({ clients: [aClient({ requireNavigation })] })],
    trustedIssuers: [anIssuer({ clients: [{ clientId: 'pms', requireNavigation }] })],
  });

  it.each(['http://launch.example', 'http://localhost:8080'])(
    'may require navigations only if the platform is at an https address, not at %s',
    (publicUrl) => {
      const message =
        'must not be true, because PUBLIC_URL is http: browsers would not say that they navigate';
      const paths = ['realms[0].clients[0]', 'trustedIssuers[0].clients[0]'];
      expect(refusalOf(navigating(true), publicUrl)).toEqual(
        paths.map((path) => `${path}.requireNavigation ${message}`),
      );
      expect(() => parseRegistry(navigating(false), { publicUrl })).not.toThrow();
      expect(() => parseRegistry(navigating(true), { publicUrl: 'https://launch.example' })).not.toThrow();
    },
  );

  it.each([
    '/refused',
    'javascript:alert(1)',
    '//pms.example/refused',
    'https://user:secret@pms.example/refused',
    'https://pms.example/refused#part',
    'https://pms.example/\r\nX: y',
  ])('refuses %j as the page that users see after a refused launch', (launchErrorPage) => {
    const clients = [aClient({ launchErrorPage })];
    expect(refusalOf({ realms: [aRealm({ clients })] })).toEqual([
      'realms[0].clients[0].launchErrorPage must be an absolute http or https address without user, password or fragment',
    ]);
  });

  it('requires one or two sealed secrets for a callback', () => {
    const [sealed] = aCallback().secrets;
    const ended = { ...sealed, expires: '2026-03-02T09:30:00Z' };
    const refusal = (secrets: unknown[]) =>
      refusalOf({ realms: [aRealm({ clients: [aClient({ callback: aCallback({ secrets }) })] })] });
    const path = 'realms[0].clients[0].callback.secrets';
    expect(refusal([])).toEqual([`${path} must have at least 1 entry`]);
    expect(refusal([sealed, ended, sealed])).toEqual([`${path} must have at most 2 entries`]);
    expect(refusal([{ sealed: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0' }])).toEqual([
      `${path}[0].sealed must be a sealed secret, as the registry command writes it`,
    ]);
  });

  describe('the earlier codes of a practice', () => {
    const ods = (code: string) => ({ system: 'ods-organization-code', code });
    const local = (code: string) => ({ system: 'local-org-code', code });
    const own = { issuer: 'https://login.example/tenant', clientId: 'pms' };
    const successor = { ...ods('B2'), formerly: [ods('B1')] };
    const succeeding = (practices: object[], ...bound: object[]) => ({
      realms: [aRealm({ clients: [aClient({ practices: [ods('B2')] })] })],
      trustedIssuers: [
        anIssuer({
          clients: [
            { clientId: 'pms', practices: [ods('B9')] },
            { clientId: 'other', practices: [ods('B8'), ...bound] },
          ],
        }),
      ],
      practices,
    });

    it('are accepted if they are closed, and local codes only within their client', () => {
      const formerly = [ods('B1'), local('0042')];
      const registry = succeeding(
        [
          { ...ods('B2'), formerly: [ods('B3')] },
          { ...own, ...ods('B2'), formerly },
          { ...own, clientId: 'other', ...local('7'), formerly: [local('0043')] },
        ],
        local('0042'),
      );
      expect(parseRegistry(registry)).toEqual(registry);
    });

    it.each<[string, object[], string]>([
      [
        'to which the client of the practice is bound',
        [{ ...ods('B7'), formerly: [ods('B1'), ods('b2')] }],
        'practices[0].formerly[1] must not be in use, but is in realms[0].clients[0].practices',
      ],
      [
        'to which another client is bound',
        [{ ...ods('B2'), formerly: [ods(' b8 ')] }],
        'practices[0].formerly[0] must not be in use, but is in trustedIssuers[0].clients[1].practices',
      ],
      [
        'that a practice still has',
        [successor, { ...ods('B1'), formerly: [ods('B0')] }],
        'practices[0].formerly[0] must not be in use, but is in practices[1]',
      ],
      [
        'that two practices claim',
        [successor, { ...own, ...ods('B9'), formerly: [ods('b1')] }],
        'practices[1].formerly[0] is claimed twice',
      ],
      [
        'that is local and has no client',
        [{ ...ods('B2'), formerly: [local('0042')] }],
        'practices[0] must contain the issuer and the clientId of a registered client, or only ODS codes',
      ],
      [
        'of a client that is not registered',
        [{ ...own, clientId: 'gone', ...ods('B2'), formerly: [ods('B1')] }],
        'practices[0] must contain the issuer and the clientId of a registered client, or only ODS codes',
      ],
    ])('are refused if they contain a code %s', (_, practices, fault) => {
      expect(refusalOf(succeeding(practices))).toEqual([fault]);
    });
  });

  describe('the keys of a client', () => {
    const publicKey = (kid: string, { publicKey: made }: { publicKey: KeyObject }) => ({
      kid,
      ...made.export({ format: 'jwk' }),
    });
    const ec = publicKey('ec', generateKeyPairSync('ec', { namedCurve: 'P-256' }));
    const rsa = (modulusLength: number) => publicKey('rsa', generateKeyPairSync('rsa', { modulusLength }));
    const refusal = (changes: object) =>
      refusalOf({ realms: [aRealm({ clients: [aClient({ secrets: [], ...changes })] })] });
    const path = 'realms[0].clients[0].jwks.keys';

    it('are public keys, listed in jwks or published at jwksUri, but not both', () => {
      const clients = [
        aClient({ jwks: { keys: [{ ...ec, use: 'sig', alg: 'ES256' }, rsa(2048)] } }),
        aClient({ clientId: 'other', jwksUri: 'https://pms.example/keys' }),
      ];
      const registry = { realms: [aRealm({ clients })] };
      expect(parseRegistry(registry)).toEqual(registry);
      expect(refusal({ jwks: { keys: [ec] }, jwksUri: 'https://pms.example/keys' })).toEqual([
        'realms[0].clients[0].jwksUri must not be present together with jwks',
      ]);
    });

    it('must not be private, weak, invalid or duplicate, and the error does not contain them', () => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const privateKey = { kid: 'p', ...pair.privateKey.export({ format: 'jwk' }) };
      const keys = [privateKey, rsa(1024), { ...ec, x: 'AA' }, { ...ec, kid: 'ec' }, { ...ec, kid: 'ec' }];
      expect(new Set(refusal({ jwks: { keys } }))).toEqual(
        new Set([
          `${path}[0] is a private key. Register only its public part`,
          `${path}[1] must have at least 2048 bits`,
          `${path}[2] must be a public key for signatures: RSA, EC or Ed25519`,
          `${path}[3] is registered twice`,
          `${path}[4] is registered twice`,
        ]),
      );
      expect(refusal({ jwks: { keys: [{ kty: 'oct', kid: 'k', k: 'c2VjcmV0' }] } }).join()).not.toContain(
        'c2VjcmV0',
      );
      expect(refusal({ jwks: { keys: [] } })).not.toEqual([]);
    });
  });

  it('is refused with an error that does not contain the hash of a secret', () => {
    const { sha256 } = secret('one');
    const registry = {
      realms: [aRealm({ clients: [aClient({ clientId: sha256, secrets: [{ sha256 }, 1] })] })],
    };
    expect(refusalOf(registry).join()).not.toContain(sha256);
  });

  it.each([undefined, null, 'realms', [], {}, { realms: {} }, { realms: [null] }, { realms: [], more: 1 }])(
    'is refused if it is %j',
    (candidate) => {
      expect(refusalOf(candidate)).not.toEqual([]);
    },
  );
});
