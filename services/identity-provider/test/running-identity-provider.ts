import { randomBytes } from 'node:crypto';
import { issuerOf } from '@clinical-launch/contracts/addresses';
import type { Registry } from '@clinical-launch/contracts/registry';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { createSealer, type Sealer } from '@clinical-launch/crypto/sealing';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { createAttempts } from '@clinical-launch/limits/attempts';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import type { TestClock } from '@clinical-launch/testing/test-clock';
import { type AccessTokenVerifier, createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { fixedRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { hashClientSecret } from '../src/domain/client-secrets.ts';
import { type IdentityProviderDependencies, identityProvider } from '../src/service.ts';

export const audience = 'api://clinical-launch';
export const scope = `${audience}/.default`;

/** The sealer that all replicas of a test file share, as in a deployment. */
export const deploymentSealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);

/** Returns a registered client with one valid secret. */
export function aClient({ secret = 'a secret of this client', ...overrides }: Record<string, unknown> = {}) {
  return {
    clientId: 'pms-north',
    name: 'PMS North',
    secrets: [{ sha256: hashClientSecret(String(secret)) }],
    scopes: ['ocs-launch.write'],
    practices: 'any',
    ...overrides,
  };
}

type RunOptions = {
  readonly clock: TestClock;
  readonly storage: Storage;
  readonly realms: readonly Record<string, unknown>[];
  readonly trustedIssuers?: readonly Record<string, unknown>[];
  readonly replicas?: number;
  readonly events?: Outbox;
  /** The parts on Redis. By default, they are in memory. */
  readonly onRedis?: Pick<IdentityProviderDependencies, 'tickets' | 'chains' | 'once'>;
  readonly revokedTokens?: RevokedTokens;
  readonly sealer?: Sealer;
  readonly isProduction?: boolean;
  readonly allowedNetworks?: readonly string[];
  /** The header in which an edge would forward client certificates. If absent, certificates are ignored. */
  readonly clientCertificateHeader?: string;
  /**
   * Creates the registry when the address of the server is known. By default, the registry consists of
   * `realms` and does not change.
   */
  readonly registryAt?: (publicUrl: string) => RegistrySource;
};

/**
 * Starts the identity provider at `/idp`, and more replicas with the same storage at `/idp-2`, `/idp-3`, ...
 */
export async function runIdentityProvider({
  clock,
  storage,
  realms,
  replicas = 1,
  isProduction = false,
  allowedNetworks = loopbackNetworks,
  registryAt = (publicUrl) =>
    fixedRegistry(registryOf({ realms, trustedIssuers: given.trustedIssuers ?? [] }, publicUrl)),
  ...given
}: RunOptions) {
  const dependencies = createTestDependencies(clock);
  const { events = dependencies.bus, sealer = deploymentSealer } = given;
  const { revokedTokens = dependencies.revokedTokens } = given;
  // `trustedProxies` lets tests set the address of the caller in a header. The issuers contain the address of
  // the server.
  const server = await serveForTest({
    dependencies,
    trustedProxies: 1,
    async mounts(url) {
      const registry = registryAt(url);
      const fetchOutbound = createOutboundFetch({ allowedNetworks });
      const tokens = verifierByClock(clock, () =>
        createAccessTokenVerifier({
          issuers: issuerPolicies(registry.current(), {
            publicUrl: url,
            identityProviderUrl: `${url}/idp`,
            audience,
          }),
          clock,
          fetchOutbound,
        }),
      );
      const config = {
        publicUrl: url,
        audience,
        isProduction,
        pseudonyms: readPatientPseudonyms({}),
        clientCertificateHeader: given.clientCertificateHeader,
      };
      const parts = {
        ...dependencies,
        events,
        ...given.onRedis,
        revokedTokens,
        storage,
        sealers: { 'access-token': sealer, 'signing-key': sealer },
        registry,
        tokens,
        fetchOutbound,
      };
      return Promise.all(
        Array.from({ length: replicas }, async (_, index) => {
          const service = await identityProvider(config, {
            ...parts,
            attempts: createAttempts(dependencies),
          });
          // The replicas of a deployment share a queue, so only one of them consumes an event.
          return index === 0
            ? { path: '/idp', service }
            : { path: `/idp-${index + 1}`, service: { ...service, consumers: [] } };
        }),
      );
    },
  });
  const { mounts } = server;
  const [first, ...others] = mounts.map(({ path }) => clientOf(`${server.url}${path}`));
  if (first === undefined) throw new TypeError('At least one replica');
  return {
    ...server,
    ...dependencies,
    idp: first,
    others,
    issuer: (realm: string) => issuerOf(server.url, realm),
  };
}

/**
 * Creates a verifier that fetches the keys again after five minutes of the test's clock. The verifier's own
 * cache uses the machine's clock, which a test cannot advance.
 */
function verifierByClock(clock: TestClock, make: () => AccessTokenVerifier): AccessTokenVerifier {
  let verifier = make();
  let madeAt = clock.now();
  return {
    verify(authorization) {
      if (clock.now() > madeAt + 5 * 60_000) {
        verifier = make();
        madeAt = clock.now();
      }
      return verifier.verify(authorization);
    },
  };
}

/** Parses a registry after replacing `${PUBLIC_URL}` with the address of the server. */
export function registryOf(registry: Record<string, unknown>, publicUrl: string): Registry {
  return parseRegistry(JSON.parse(JSON.stringify(registry).replaceAll('${PUBLIC_URL}', publicUrl)));
}

type Form = Record<string, string> | [string, string][];

/** Returns methods that send requests to one replica over HTTP. */
function clientOf(base: string) {
  const postForm = (path: string, form: Form, headers: Record<string, string> = {}) =>
    fetch(`${base}${path}`, { method: 'POST', body: new URLSearchParams(form), headers });
  return {
    base,
    postForm,
    get: (path: string, init: RequestInit = {}) => fetch(`${base}${path}`, init),
    async token(realm: string, form: Record<string, string> = {}): Promise<Record<string, unknown>> {
      const response = await postForm(`/${realm}/oauth2/v2.0/token`, { ...tokenForm(), ...form });
      return { status: response.status, ...record(await response.json()) };
    },
    async keySet(realm: string): Promise<JSONWebKeySet> {
      const response = await fetch(`${base}/${realm}/discovery/v2.0/keys`);
      const body = record(await response.json());
      if (!Array.isArray(body.keys)) throw new TypeError('not a key set');
      return { keys: body.keys };
    },
  };
}

/** Returns the form of a valid token request. */
export function tokenForm() {
  return {
    grant_type: 'client_credentials',
    client_id: 'pms-north',
    client_secret: 'a secret of this client',
    scope,
  };
}

/** Returns the Authorization header for client credentials (RFC 6749 section 2.3.1). */
export function basic(clientId: string, clientSecret: string): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`;
}

const importedKeys = new WeakMap<JSONWebKeySet, ReturnType<typeof createLocalJWKSet>>();

/** Imports the keys of a set once, because importing a key takes longer than verifying with it. */
function keysOf(keySet: JSONWebKeySet) {
  const keys = importedKeys.get(keySet) ?? createLocalJWKSet(keySet);
  importedKeys.set(keySet, keys);
  return keys;
}

/** Verifies an access token with a key set at the time of the clock, as a resource server does. */
export async function verifyToken(
  token: unknown,
  { keySet, issuer, clock }: { keySet: JSONWebKeySet; issuer: string; clock: TestClock },
): Promise<{ claims: JWTPayload; header: Record<string, unknown> }> {
  const { payload, protectedHeader } = await jwtVerify(String(token), keysOf(keySet), {
    issuer,
    audience,
    typ: 'at+jwt',
    currentDate: new Date(clock.now()),
  });
  return { claims: payload, header: { ...protectedHeader } };
}

export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object');
  return { ...value };
}
