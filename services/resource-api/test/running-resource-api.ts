import { randomBytes, randomUUID } from 'node:crypto';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { createSealer, type Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfTokenContext } from '@clinical-launch/crypto/sealing-purposes';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import type { Chains } from '@clinical-launch/tickets/chains';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { desktopIssuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { fixedRegistry } from '@clinical-launch/trust/registry-file';
import type { ResourceApiConfig } from '../src/config.ts';
import { resourceApi } from '../src/service.ts';

export const audience = 'api://clinical-launch';

/** The context of a launch, which the identity provider encrypts in the access token. */
export const aContext = {
  user: {
    userERN: 'ern:demo:user:7f3',
    email: 'a.okonkwo@example.org',
    title: 'Dr',
    firstName: 'Adaeze',
    familyName: 'Okonkwo',
  },
  organisation: { orgERN: 'ern:demo:org:1', orgName: 'Harbour Surgery', cdb: '4711', ods: 'B82017' },
  patient: {
    title: 'Mr',
    forenames: 'Cathal',
    surname: 'Ó Súilleabháin',
    gender: 'Male',
    dob: '03-Nov-1987',
    'patient-identifiers': [{ identifierType: 'NHS Number', identifierValue: '9434765870' }],
    'address-details': [{ addressLine1: '' }],
    'contact-details': [],
  },
};

/** The ids that the identity provider gave the resources of the launch. */
export const fhirIds = {
  Patient: 'a1'.repeat(16),
  Practitioner: 'b2'.repeat(16),
  Organization: 'c3'.repeat(16),
};

type StartOptions = {
  readonly config?: Partial<ResourceApiConfig>;
  /** Wraps the chains of the service. */
  readonly watch?: (chains: Chains) => Pick<Chains, 'isRevoked' | 'use'>;
};

type ReadOptions = { readonly token?: string | null; readonly method?: string };

/** Starts a resource API with the realms demo/desktop and south/desktop. The test signs their tokens. */
export async function startResourceApi({ config = {}, watch = (chains) => chains }: StartOptions = {}) {
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
  const signer = await startTokenIssuer({ clock, audience });
  const realms = ['demo/desktop', 'south/desktop'];
  const partners = [
    { clientId: 'partner', scopes: [] },
    { clientId: 'partner-limited', scopes: [], requestsPerSecond: 2 },
  ].map((partner) => ({
    ...partner,
    name: partner.clientId,
    launchUrl: 'https://partner.example/launch',
    redirectUris: ['https://partner.example/callback'],
  }));
  const registry = parseRegistry({
    realms: [
      { realm: 'demo', clients: [] },
      ...realms.map((realm) => ({ realm, clients: [], desktop: { partners } })),
    ],
  });
  const createMounts = async (publicUrl: string) => {
    const trust = { publicUrl, identityProviderUrl: publicUrl, audience };
    const tokens = createAccessTokenVerifier({
      issuers: desktopIssuerPolicies(registry, trust).map((policy) => ({
        ...policy,
        jwksUri: `${signer.issuer}/keys`,
      })),
      clock,
      fetchOutbound: createOutboundFetch({ allowedNetworks: loopbackNetworks }),
    });
    const parts = {
      ...dependencies,
      tokens,
      registry: fixedRegistry(registry),
      sealers: { 'access-token': sealer },
      chains: watch(dependencies.chains),
    };
    return [
      {
        path: '/',
        service: resourceApi({ publicUrl, namespaces: defaultNamespaces, ...config }, parts),
      },
    ];
  };
  const server = await serveForTest({ mounts: createMounts, dependencies });
  const issuer = `${server.url}/idp/demo/desktop/v2.0`;

  /** Encrypts a context for the token with these claims, as the identity provider does. */
  const sealContext = (
    { jti, sid }: { jti?: unknown; sid?: unknown },
    { context = { ...aContext, fhirIds }, by = sealer }: { context?: object; by?: Sealer } = {},
  ) => {
    const place = bindingOfTokenContext({ tokenId: String(jti), launchId: String(sid) });
    return by.seal('access-token-context', context, place);
  };

  const sign = (
    claims: Record<string, unknown> = {},
    { header = {}, key = signer.key }: { header?: Record<string, unknown>; key?: TestKey } = {},
  ) => {
    const ids = { jti: randomUUID(), sid: randomUUID(), ...claims };
    return signer.sign({
      header,
      key,
      claims: {
        iss: issuer,
        client_id: 'partner',
        sub: aContext.user.userERN,
        scope: 'openid launch resource.read',
        authorizations: ['agmt-agmt.read', 'clinical-cr.read'],
        launch_context: sealContext(ids),
        ...ids,
      },
    });
  };

  const read = async (url: string, { token, method = 'GET' }: ReadOptions = {}) => {
    const bearer = token === undefined ? await sign() : token;
    const headers: Record<string, string> = bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
    return fetch(url, { method, headers });
  };

  return {
    ...dependencies,
    clock,
    /** The issuer of the tokens, which is the base address of the FHIR resources. */
    issuer,
    signer,
    sealer,
    url: server.url,
    sealContext,
    /** Signs an access token that is valid except for the given changes. */
    sign,
    /** Reads a resource with a valid token, with the given token, or with none if it is null. */
    get: (name: string, options?: ReadOptions) => read(`${server.url}/resource/${name}`, options),
    /** Like `get`, but reads a path below the issuer. */
    getFhir: (path: string, options?: ReadOptions) => read(`${issuer}/${path}`, options),
    async stop() {
      await server.stop();
      await signer.stop();
    },
  };
}
