import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import {
  aClient,
  audience,
  record,
  registryOf,
  runIdentityProvider,
  scope,
} from './running-identity-provider.ts';

const clock = new TestClock();
const awkwardSecret = 'with: a+b %41 & é=/';
const clients = [aClient(), aClient({ clientId: 'awkward', secret: awkwardSecret })];
const algorithms = { 'north-rs': 'RS256', 'north-es': 'ES256', 'north/ed': 'EdDSA' } as const;
const realms = Object.entries(algorithms).map(([realm, signingAlgorithm]) => ({
  realm,
  signingAlgorithm,
  clients,
}));
const realmNames = Object.entries(algorithms).map(([realm, algorithm]) => ({ realm, algorithm }));

let storage: Storage;
let running: Awaited<ReturnType<typeof runIdentityProvider>>;
beforeAll(async () => {
  storage = await openTestStorage();
  running = await runIdentityProvider({ clock, storage, realms });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

async function verifyByPublishedKeys(token: string, jwksUri: string | undefined, issuer: string) {
  const keys = createRemoteJWKSet(new URL(String(jwksUri)));
  return jwtVerify(token, keys, { issuer, audience, typ: 'at+jwt', currentDate: new Date(clock.now()) });
}

describe('a third-party client', () => {
  const methods = { post: openid.ClientSecretPost, basic: openid.ClientSecretBasic };

  it.each(realmNames)(
    'gets a token signed with $algorithm by openid-client, which is configured only with the issuer',
    async ({ realm, algorithm }) => {
      const issuer = running.issuer(realm);
      for (const [name, method] of Object.entries(methods)) {
        const client = await openid.discovery(new URL(issuer), 'awkward', undefined, method(awkwardSecret), {
          execute: [openid.allowInsecureRequests],
        });
        const answer = await openid.clientCredentialsGrant(client, { scope });
        expect({ name, expiresIn: answer.expires_in }).toEqual({ name, expiresIn: 3600 });
        const { jwks_uri } = client.serverMetadata();
        const { payload, protectedHeader } = await verifyByPublishedKeys(
          answer.access_token,
          jwks_uri,
          issuer,
        );
        expect(payload.sub).toBe('awkward');
        expect(protectedHeader.alg).toBe(algorithm);
      }
    },
  );

  it('reads the error for a wrong secret with openid-client', async () => {
    const client = await openid.discovery(
      new URL(running.issuer('north-rs')),
      'awkward',
      undefined,
      openid.ClientSecretPost('wrong'),
      { execute: [openid.allowInsecureRequests] },
    );
    await expect(openid.clientCredentialsGrant(client, { scope })).rejects.toMatchObject({
      error: 'invalid_client',
      status: 401,
    });
  });

  it.each([oauth.ClientSecretPost(awkwardSecret), oauth.ClientSecretBasic(awkwardSecret)])(
    'gets a token by oauth4webapi, which is configured only with the issuer (authentication method %#)',
    async (authentication) => {
      const insecure = { [oauth.allowInsecureRequests]: true };
      const issuer = new URL(running.issuer('north/ed'));
      const server = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, insecure),
      );
      const client = { client_id: 'awkward' };
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authentication,
        { scope },
        insecure,
      );
      const answer = await oauth.processClientCredentialsResponse(server, client, response);
      expect(answer.token_type).toBe('bearer');
      const { payload } = await verifyByPublishedKeys(answer.access_token, server.jwks_uri, issuer.href);
      expect(payload.scp).toEqual(['ocs-launch.write']);
    },
  );

  it('gets a token that the platform’s services accept, whether they use discovery or a configured jwksUri', async () => {
    const { access_token } = await running.idp.token('north-es');
    const issuer = running.issuer('north-es');
    const jwksUri = `${running.url}/idp/north-es/discovery/v2.0/keys`;
    for (const known of [{}, { jwksUri }]) {
      const policy = {
        issuer,
        audiences: [audience],
        rightClaims: ['scope', 'scp', 'roles'] as const,
        isConfigured: false,
        requiresAccessTokenType: true,
        clientIdClaims: ['client_id'],
        requiresKeyId: true,
        clients: new Map([['pms-north', { grants: ['ocs-launch.write'], policy: {} }]]),
        ...known,
      };
      const verifier = createAccessTokenVerifier({
        issuers: [policy],
        clock,
        fetchOutbound: createOutboundFetch({ allowedNetworks: loopbackNetworks }),
      });
      const caller = await verifier.verify(`Bearer ${String(access_token)}`);
      expect(caller).toMatchObject({ issuer, clientId: 'pms-north' });
      expect([...caller.rights]).toEqual(['ocs-launch.write']);
    }
  });

  it('gets a token whose rights are valid only while the registry grants them', async () => {
    const { access_token } = await running.idp.token('north-es');
    const rightsOf = async (scopes: string[]) => {
      const registry = registryOf(
        { realms: [{ realm: 'north-es', clients: [aClient({ scopes })] }] },
        running.url,
      );
      const options = { publicUrl: running.url, identityProviderUrl: `${running.url}/idp`, audience };
      const verifier = createAccessTokenVerifier({
        issuers: issuerPolicies(registry, options),
        clock,
        // No network is allowed: the keys of our own realms come from the address that
        // the operator configured.
        fetchOutbound: createOutboundFetch({ allowedNetworks: [] }),
      });
      return [...(await verifier.verify(`Bearer ${String(access_token)}`)).rights];
    };
    expect(await rightsOf(['ocs-launch.write', 'audit.read'])).toEqual(['ocs-launch.write']);
    expect(await rightsOf([])).toEqual([]);
  });
});

describe('GET {issuer}/.well-known/openid-configuration', () => {
  const discovery = '/v2.0/.well-known/openid-configuration';

  it('returns exactly the endpoints and features of the realm', async () => {
    const response = await running.idp.get(`/north/ed${discovery}`);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(record(await response.json())).toEqual({
      issuer: `${running.url}/idp/north/ed/v2.0`,
      authorization_endpoint: `${running.url}/idp/north/ed/oauth2/v2.0/authorize`,
      response_types_supported: ['code'],
      token_endpoint: `${running.url}/idp/north/ed/oauth2/v2.0/token`,
      jwks_uri: `${running.url}/idp/north/ed/discovery/v2.0/keys`,
      revocation_endpoint: `${running.url}/idp/north/ed/oauth2/v2.0/revoke`,
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      introspection_endpoint: `${running.url}/idp/north/ed/oauth2/v2.0/introspect`,
      introspection_endpoint_auth_methods_supported: ['Bearer'],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      scopes_supported: ['api://clinical-launch/.default'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['EdDSA'],
    });
  });

  it.each(['/north/ed', '/NORTH/Ed', '/tfp/north/ed', '/TFP/North/ED'])(
    'returns the issuer in its canonical form for the path %s',
    async (realm) => {
      const response = await running.idp.get(`${realm}${discovery}`);
      expect(record(await response.json()).issuer).toBe(running.issuer('north/ed'));
    },
  );

  it.each([discovery, '/discovery/v2.0/keys'])(
    'answers 404 for an unknown realm and 405 to a POST at %s',
    async (path) => {
      expect((await running.idp.get(`/nowhere${path}`)).status).toBe(404);
      const posted = await running.idp.postForm(`/north/ed${path}`, {});
      expect(posted.status).toBe(405);
      expect(posted.headers.get('allow')).toBe('GET, HEAD');
    },
  );
});

describe('GET /{realm}/discovery/v2.0/keys', () => {
  const publicMembers = {
    RS256: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ES256: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    EdDSA: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
  };

  it.each(realmNames)(
    'returns only the public members of the $algorithm key',
    async ({ realm, algorithm }) => {
      const response = await running.idp.get(`/${realm}/discovery/v2.0/keys`);
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      const { keys } = await running.idp.keySet(realm);
      expect(keys).toHaveLength(1);
      expect(Object.keys(keys[0] ?? {}).toSorted()).toEqual(publicMembers[algorithm]);
      expect(keys[0]).toMatchObject({ alg: algorithm, use: 'sig' });
    },
  );

  it('returns a different kid for each key of every realm', async () => {
    const sets = await Promise.all(realmNames.map(({ realm }) => running.idp.keySet(realm)));
    const kids = sets.flatMap(({ keys }) => keys.map(({ kid }) => kid));
    expect(new Set(kids).size).toBe(3);
  });

  it('does not publish the keys of another realm', async () => {
    const { access_token } = await running.idp.token('north-rs');
    const jwksUri = `${running.url}/idp/north-es/discovery/v2.0/keys`;
    await expect(
      verifyByPublishedKeys(String(access_token), jwksUri, running.issuer('north-rs')),
    ).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });
});
