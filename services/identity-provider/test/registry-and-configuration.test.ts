import { randomBytes } from 'node:crypto';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import {
  assertProductionRegistry,
  productionRegistryProblems,
} from '@clinical-launch/trust/production-registry';
import { describe, expect, it } from '@jest/globals';
import { readIdentityProviderConfig } from '../src/config.ts';
import { createClientSecret, hashClientSecret } from '../src/domain/client-secrets.ts';
import { aPartner } from './running-desktop.ts';
import { aClient } from './running-identity-provider.ts';

describe('a client secret', () => {
  it('is stored as its SHA-256 (FIPS 180-2 example "abc")', () => {
    expect(hashClientSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('has 256 random bits and needs no escaping', () => {
    const made = Array.from({ length: 100 }, () => createClientSecret());
    for (const secret of made) {
      expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    }
    expect(new Set(made).size).toBe(100);
  });

  it('contains all 32 bytes from its random source', () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
    const secret = createClientSecret((size) => bytes.subarray(0, size));
    expect(Buffer.from(secret, 'base64url')).toEqual(bytes);
  });
});

describe('a registry for production', () => {
  const registry = (...clients: Record<string, unknown>[]) =>
    parseRegistry({
      realms: [
        { realm: 'empty', clients: [] },
        { realm: 'north', clients },
      ],
    });

  it('is accepted if its secrets are not secrets of the demo', () => {
    expect(productionRegistryProblems(registry(aClient({ secret: createClientSecret() })))).toEqual([]);
  });

  it.each([
    'pms-demo',
    'pms-other',
    'pms-noscope',
    'pms-limited',
    'sandbox-pms',
    'host-demo',
    'audit-demo',
    'partner-demo',
    'partner-standard',
    'partner-native',
  ])('is refused with the demo client %s', (clientId) => {
    expect(productionRegistryProblems(registry(aClient({ clientId })))).toEqual([
      'realms[1].clients[0].clientId is a client of the demo',
    ]);
  });

  it('is refused if a client with the right to launch lists no practices', () => {
    const clients = [
      aClient({ clientId: 'unstated', practices: undefined }),
      aClient({ clientId: 'any' }),
      aClient({ clientId: 'host', practices: undefined, scopes: ['launch.issue'], erns: 'any' }),
    ];
    const refused = parseRegistry({
      realms: [{ realm: 'north', clients: JSON.parse(JSON.stringify(clients)) }],
      trustedIssuers: [{ issuer: 'https://login.example', clients: [{ clientId: 'pms' }] }],
    });
    const said = 'is required. List the practices that the client may launch for, or state "any"';
    expect(productionRegistryProblems(refused)).toEqual([
      `realms[0].clients[0].practices ${said}`,
      `realms[0].clients[2].practices ${said}`,
      `trustedIssuers[0].clients[0].practices ${said}`,
    ]);
  });

  it('is refused if a host application lists no prefixes of ERNs', () => {
    const host = (clientId: string, erns?: string[]) =>
      aClient({ clientId, scopes: ['launch.issue'], ...(erns && { erns }) });
    expect(productionRegistryProblems(registry(host('bound', ['ern:north-ehr']), host('unstated')))).toEqual([
      'realms[1].clients[1].erns is required. List the prefixes of the ERNs that the host may name, or "any" for the only host',
    ]);
  });

  const partnersOf = (...partners: Record<string, unknown>[]) =>
    parseRegistry({ realms: [{ realm: 'north/desktop', clients: [], desktop: { partners } }] });

  it('is accepted if redirect URIs have an https, loopback or custom-scheme address', () => {
    const redirectUris = ['https://p.example/auth', 'http://127.0.0.1/auth', 'partnerapp://auth'];
    expect(productionRegistryProblems(partnersOf(aPartner({ redirectUris })))).toEqual([]);
  });

  it('is refused with a demo partner, or with http addresses of a partner', () => {
    const redirectUris = ['https://p.example/auth', 'http://p.example/auth'];
    const launchUrl = 'http://localhost:3000/launch';
    const refused = partnersOf(aPartner({ clientId: 'partner-demo', redirectUris, launchUrl }));
    expect(productionRegistryProblems(refused)).toEqual([
      'realms[0].desktop.partners[0].clientId is a client of the demo',
      'realms[0].desktop.partners[0].redirectUris[1] must be https, or http with 127.0.0.1 or [::1]',
      'realms[0].desktop.partners[0].launchUrl must be https, or http with 127.0.0.1 or [::1]',
    ]);
  });

  it('is refused if a trusted issuer or its keys have an http address', () => {
    const clients = [{ clientId: 'pms', practices: 'any' }];
    const issuer = 'https://login.example';
    const trustedIssuers = [
      { issuer, clients },
      { issuer: 'http://login.example', clients },
      { issuer: `${issuer}/b`, jwksUri: 'http://keys.example/', clients },
    ];
    expect(productionRegistryProblems(parseRegistry({ realms: [], trustedIssuers }))).toEqual([
      'trustedIssuers[1].issuer must be https',
      'trustedIssuers[2].jwksUri must be https',
    ]);
  });

  it('is refused if the frame ancestors, pages or callback of a client have an http address', () => {
    const sealed = `${'demo.'}${'A'.repeat(80)}`;
    const open = {
      frameAncestors: ['https://pms.example', 'http://pms.example'],
      resultOrigin: 'http://pms.example',
      launchErrorPage: 'http://localhost/refused',
      callback: { url: 'http://pms.example/', secrets: [{ sealed }] },
    };
    const trustedIssuers = [
      { issuer: 'https://login.example', clients: [{ clientId: 'pms', practices: 'any' as const, ...open }] },
    ];
    const found = productionRegistryProblems({ ...registry(aClient(open)), trustedIssuers });
    expect(found).toEqual(
      ['realms[1].clients[0]', 'trustedIssuers[0].clients[0]'].flatMap((path) => [
        `${path}.frameAncestors[1] must be an https origin, with \`*\` only before a domain of three labels or more`,
        `${path}.resultOrigin must be one https origin`,
        `${path}.launchErrorPage must be https`,
        `${path}.callback.url must be https`,
      ]),
    );
  });

  it.each([
    'https://*',
    'https://*.example',
    'https://*.pms.example',
    'https://*.co.uk',
    'https://*.nhs.uk:8443',
    'https://pms.*',
    'https://pms.example:*',
    'https://*.*.example',
    "https://pms.example;script-src'unsafe-inline'",
  ])('is refused with the frame ancestor %s, which is not limited to one practice system', (origin) => {
    expect(productionRegistryProblems(registry(aClient({ frameAncestors: [origin] })))).toHaveLength(1);
  });

  it.each([
    'https://pms.example',
    'https://pms.example:8443',
    'https://*.clinics.pms.example',
    'https://*.pms.co.uk',
    'https://[2a00::1]',
  ])('is accepted with the frame ancestor %s of one practice system', (origin) => {
    expect(productionRegistryProblems(registry(aClient({ frameAncestors: [origin] })))).toEqual([]);
  });

  it('is refused with a list of all problems, without values', () => {
    const demo = { sha256: hashClientSecret('host-demo-secret') };
    const refused = registry(
      aClient({ clientId: 'pms-demo', secret: 'pms-demo-secret' }),
      aClient({ secrets: [{ sha256: hashClientSecret(createClientSecret()) }, demo] }),
    );
    expect(() => assertProductionRegistry(refused)).toThrow(
      [
        'The configuration is invalid:',
        'realms[1].clients[0].clientId is a client of the demo',
        'realms[1].clients[0].secrets[0] is a secret of the demo',
        'realms[1].clients[1].secrets[1] is a secret of the demo',
      ].join('\n  '),
    );
  });
});

describe('the environment of the identity provider', () => {
  it('requires only PUBLIC_URL', () => {
    expect(readIdentityProviderConfig({ PUBLIC_URL: 'http://localhost:8080' })).toMatchObject({
      publicUrl: 'http://localhost:8080',
      audience: 'api://clinical-launch',
      isProduction: false,
    });
  });

  it('sets the audience and the production mode', () => {
    const read = readIdentityProviderConfig({
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://launch.example/platform',
      AUDIENCE: 'https://api.example',
      PATIENT_PSEUDONYM_KEY: randomBytes(32).toString('base64url'),
    });
    expect(read).toMatchObject({
      publicUrl: 'https://launch.example/platform',
      audience: 'https://api.example',
      isProduction: true,
    });
  });

  it('is refused with the names of all invalid variables, without their values', () => {
    const faulty = { PUBLIC_URL: 'https://secret.example/', AUDIENCE: 'two words' };
    const read = () => readIdentityProviderConfig(faulty);
    for (const variable of Object.keys(faulty)) expect(read).toThrow(variable);
    expect(read).not.toThrow('secret.example');
  });

  it('must contain an https PUBLIC_URL in production', () => {
    const environment = { NODE_ENV: 'production', PUBLIC_URL: 'http://launch.example' };
    expect(() => readIdentityProviderConfig(environment)).toThrow('PUBLIC_URL must be an https address');
  });
});
