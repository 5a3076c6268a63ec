import { randomBytes } from 'node:crypto';
import { readAuditTrailConfig } from '@clinical-launch/audit-trail/config';
import { auditTrail } from '@clinical-launch/audit-trail/service';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { hashClientSecret } from '@clinical-launch/identity-provider/domain/client-secrets';
import { identityProvider } from '@clinical-launch/identity-provider/service';
import { readLaunchApiConfig } from '@clinical-launch/launch-api/config';
import { launchApi } from '@clinical-launch/launch-api/service';
import { readLaunchGatewayConfig } from '@clinical-launch/launch-gateway/config';
import { launchGateway } from '@clinical-launch/launch-gateway/service';
import { createAttempts } from '@clinical-launch/limits/attempts';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import type { Mount } from '@clinical-launch/process/service';
import { readResourceApiConfig } from '@clinical-launch/resource-api/config';
import { resourceApi } from '@clinical-launch/resource-api/service';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { desktopIssuerPolicies, issuerPolicies } from '@clinical-launch/trust/issuer-policies';

const audience = 'api://clinical-launch';
/** The partner application that the examples of the documents use. */
const partner = {
  clientId: 'example-partner',
  name: 'The partner application of the examples',
  redirectUris: ['https://partner.example/callback'],
  launchUrl: 'https://partner.example/launch',
  scopes: ['openid', 'fhirUser', 'launch', 'patient/*.rs'],
};
const client = (clientId: string, scopes: readonly string[]) => ({
  clientId,
  name: clientId,
  secrets: [{ sha256: hashClientSecret(`the secret of ${clientId}`) }],
  scopes,
  practices: 'any',
});
const registry = parseRegistry({
  realms: [
    {
      realm: 'demo',
      clients: [
        client('example-client', ['ocs-launch.write', 'launch.issue', 'token.introspect', 'audit.read']),
        client('client-without-rights', []),
      ],
    },
    { realm: 'demo/desktop', clients: [], desktop: { partners: [partner] } },
  ],
});

type ServicesOptions = { readonly isLimited?: boolean } & Parameters<typeof openTestStorage>[0];

/**
 * Starts the services that have OpenAPI documents, with dependencies that can be made to fail.
 * @param isLimited whether each address is limited to one refusal
 */
export async function startServices({ isLimited = false, ...storageOptions }: ServicesOptions = {}) {
  const refusalLimit = { refusals: isLimited ? 1 : 100_000, windowSeconds: 10 };
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock, { refusalLimit });
  const storage = await openTestStorage(storageOptions);
  let fault: (() => Error) | undefined;
  const failing = <Part extends object>(part: Part) => failingWith(part, () => fault);

  const server = await serveForTest({
    mounts: (url) => createMounts(url, { dependencies, storage, failing }),
    dependencies,
  });

  return {
    url: server.url,
    mounts: server.mounts,
    storage,
    clock,
    /**
     * Makes every dependency fail until `heal` is called, as if the dependency were unavailable or had a
     * defect.
     */
    fail(how: 'unavailable' | 'defect') {
      fault = () => (how === 'unavailable' ? new Unavailable('stopped by the test') : new Error('a defect'));
    },
    heal: () => {
      fault = undefined;
    },
    async stop() {
      fault = undefined;
      await server.stop();
      await storage.close().catch(() => undefined);
    },
  };
}

type Parts = {
  readonly dependencies: ReturnType<typeof createTestDependencies>;
  readonly storage: Storage;
  readonly failing: <Part extends object>(part: Part) => Part;
};

/** Creates the services for a public address, which appears in their documents and issuers. */
async function createMounts(url: string, { dependencies, storage, failing }: Parts): Promise<Mount[]> {
  const environment = { PUBLIC_URL: url };
  const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
  const fetchOutbound = createOutboundFetch({ allowedNetworks: loopbackNetworks });
  const trust = { publicUrl: url, identityProviderUrl: `${url}/idp`, audience };
  const verifierFor = (policiesOf: typeof issuerPolicies) =>
    failing(
      createAccessTokenVerifier({
        issuers: policiesOf(registry, trust),
        clock: dependencies.clock,
        fetchOutbound,
      }),
    );
  const parts = {
    ...dependencies,
    storage,
    fetchOutbound,
    attempts: createAttempts(dependencies),
    sealers: { 'access-token': sealer, 'signing-key': sealer },
    tickets: failing(dependencies.tickets),
    chains: failing(dependencies.chains),
    once: failing(dependencies.once),
    revokedTokens: failing(dependencies.revokedTokens),
    events: failing(dependencies.bus),
    registry: failing({ current: () => registry }),
    tokens: verifierFor(issuerPolicies),
  };
  const idpConfig = {
    publicUrl: url,
    audience,
    isProduction: false,
    pseudonyms: readPatientPseudonyms({}),
  };
  return [
    { path: '/idp', service: await identityProvider(idpConfig, parts) },
    { path: '/', service: launchApi(readLaunchApiConfig(environment), parts) },
    { path: '/', service: launchGateway(readLaunchGatewayConfig(environment), parts) },
    {
      path: '/',
      service: resourceApi(readResourceApiConfig(environment), {
        ...parts,
        tokens: verifierFor(desktopIssuerPolicies),
      }),
    },
    {
      path: '/',
      service: await auditTrail({ ...readAuditTrailConfig(environment), pages: undefined }, parts),
    },
  ];
}

/** Returns a proxy whose methods throw while there is a fault. */
function failingWith<Part extends object>(part: Part, fault: () => (() => Error) | undefined): Part {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...sent: unknown[]): unknown => {
        const make = fault();
        if (make !== undefined) throw make();
        return Reflect.apply(member, target, sent);
      };
    },
  });
}
