import { fileURLToPath } from 'node:url';
import type { Registry } from '@clinical-launch/contracts/registry';
import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { oauthDialect } from '@clinical-launch/http/errors';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Attempts } from '@clinical-launch/limits/attempts';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import { createPages, serveAssets } from '@clinical-launch/pages/templates';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { Storage } from '@clinical-launch/storage/storage';
import type { Chains, Once } from '@clinical-launch/tickets/chains';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { assertProductionRegistry } from '@clinical-launch/trust/production-registry';
import { followRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import type { IdentityProviderConfig } from './config.ts';
import { onChainRevoked } from './consumers/on-chain-revoked.ts';
import { startLogoutDelivery } from './delivery/deliver-logouts.ts';
import { createRealms, realmsByName } from './domain/realms.ts';
import { authorizationCode } from './grants/authorization-code.ts';
import { clientCredentials, defaultScope } from './grants/client-credentials.ts';
import { createTokenIssue } from './grants/issue-tokens.ts';
import { refreshToken } from './grants/refresh-token.ts';
import { realmEndpoints } from './http/realm-endpoints.ts';
import { createClientKeys } from './keys/client-keys.ts';
import { KeyRing } from './keys/key-ring.ts';
import { createOwnTokens } from './keys/own-tokens.ts';
import { publishedDescription } from './openapi/published-description.ts';
import { createLogouts } from './store/logouts.ts';
import { openSchema } from './store/tables.ts';

export type IdentityProviderDependencies = {
  /** The registry. It may change at runtime, and changes apply from the next request. */
  readonly registry: RegistrySource;
  readonly storage: Storage;
  readonly tickets: Tickets;
  readonly chains: Chains;
  readonly once: Once;
  readonly revokedTokens: RevokedTokens;
  readonly events: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The sealers that encrypt private signing keys, and the launch context in access tokens. */
  readonly sealers: Pick<Sealers, 'access-token' | 'signing-key'>;
  /** Verifies the tokens of host applications and resource servers. */
  readonly tokens: AccessTokenVerifier;
  /** Sends the requests to launch URLs, and the logout tokens to partners. */
  readonly fetchOutbound: OutboundFetch;
  /** Limits the requests of clients and partners. */
  readonly limiter: RateLimiter;
  /** Delays guesses of client secrets. */
  readonly attempts: Attempts;
};

/** The days for which a signing key signs before it is replaced. */
const rotateEveryDays = 30;

/**
 * Creates the identity provider, which issues access tokens and the tickets and tokens of desktop launches.
 * It must be mounted at `/idp` with the prefix removed. Resolves when its schema exists and every realm has a
 * signing key.
 * @throws TypeError if a production registry contains demo clients or secrets
 */
export async function identityProvider(
  config: IdentityProviderConfig,
  provided: IdentityProviderDependencies,
): Promise<Service> {
  const { publicUrl, audience, isProduction, clientCertificateHeader, pseudonyms } = config;
  const { registry, events, clock, tickets, chains, sealers } = provided;
  if (isProduction) assertProductionRegistry(registry.current());
  const realms = createRealms(followRegistry(registry, (current) => realmsByName(current, publicUrl)));
  const keyRing = await KeyRing.open({
    ...provided,
    sealer: sealers['signing-key'],
    realms,
    rotateEveryDays,
  });
  observeExpiries({ registry, keyRing });
  const contextSealer = sealers['access-token'];
  const prepareTokens = createTokenIssue({ audience, keyRing, contextSealer, pseudonyms, clock });
  const grants = [
    clientCredentials({ audience, keyRing, clock }),
    authorizationCode(tickets, prepareTokens),
    refreshToken({ tickets, prepareTokens, events }),
  ];
  const dependencies = {
    ...provided,
    realms,
    keyRing,
    grants,
    publicUrl,
    isProduction,
    pseudonyms,
    contextSealer,
    clientCertificateHeader,
    pages: createPages(fileURLToPath(new URL('views', import.meta.url)), config),
    scopes: [defaultScope(audience)],
    findClientKeys: createClientKeys(registry, provided),
    findOwnToken: createOwnTokens({ audience, keyRing, clock }),
  };

  const logouts = createLogouts(await openSchema(provided.storage));
  const worker = startLogoutDelivery({ ...dependencies, logouts });
  const consumer = onChainRevoked({
    realms,
    chains,
    async add(logout) {
      if (await logouts.add(logout, clock.now())) worker.nudge();
    },
  });
  return {
    name: 'identity-provider',
    endpoints: [publishedDescription(dependencies), ...realmEndpoints(dependencies)],
    below: [{ path: '/assets', serve: serveAssets() }],
    edges: [{ path: '/', dialect: oauthDialect }],
    consumers: [consumer],
    stop: () => worker.stop(),
  };
}

/** An expiring credential: its kind, its owner, and its expiry in milliseconds since 1970. */
type Ending = { readonly kind: string; readonly owner: string; readonly at: number };

/**
 * Observes the expiry of the registry's secrets and the due date of signing keys. For a client, reports the
 * latest expiry, and only if each of its secrets has an expiry. An old secret that expires after a rotation
 * does no harm.
 */
function observeExpiries({ registry, keyRing }: { registry: RegistrySource; keyRing: KeyRing }): void {
  const meter = getMeter();
  const expiry = meter.createObservableGauge('clinical_launch.credential.expiry', {
    description:
      'When the last secret of a client expires, or a signing key must be replaced, in seconds since 1970',
    unit: 's',
  });
  meter.addBatchObservableCallback(
    (result) => {
      const keys = keyRing.dueAt().map(({ realm, at }) => ({ kind: 'signing_key', owner: realm, at }));
      for (const { kind, owner, at } of [...endingsOf(registry.current()), ...keys])
        result.observe(expiry, at / 1000, {
          'clinical_launch.credential.kind': kind,
          'clinical_launch.credential.owner': owner,
        });
    },
    [expiry],
  );
}

function endingsOf({ realms, trustedIssuers = [] }: Registry): Ending[] {
  const clients = realms.flatMap(({ realm, clients: own }) =>
    own.flatMap((client) => {
      const owner = `${realm} ${client.clientId}`;
      return [...lastOf('client_secret', owner, client.secrets), ...callbackOf(owner, client)];
    }),
  );
  const external = trustedIssuers.flatMap(({ issuer, clients: theirs }) =>
    theirs.flatMap((client) => callbackOf(`${issuer} ${client.clientId}`, client)),
  );
  return [...clients, ...external];
}

type Secret = { readonly expires?: string };

const callbackOf = (owner: string, client: { readonly callback?: { readonly secrets: readonly Secret[] } }) =>
  lastOf('callback_secret', owner, client.callback?.secrets ?? []);

function lastOf(kind: string, owner: string, secrets: readonly Secret[]): Ending[] {
  const ends = secrets.flatMap(({ expires }) => (expires === undefined ? [] : [Date.parse(expires)]));
  return ends.length === 0 || ends.length < secrets.length ? [] : [{ kind, owner, at: Math.max(...ends) }];
}
