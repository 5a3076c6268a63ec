import type { Registry, Sealer } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import {
  type Clock,
  createRateLimiter,
  createRouter,
  errorEdge,
  type Logger,
  oauthDialect,
  onlyMethods,
  type Service,
} from '@clinical-launch/service';
import type { Storage } from '@clinical-launch/storage';
import type { Router } from 'express';
import type { IdentityProviderConfig } from './config.ts';
import { assertProductionRegistry } from './domain/production-registry.ts';
import { createRealms, type Realms } from './domain/realms.ts';
import { clientCredentials, defaultScope } from './grants/client-credentials.ts';
import type { Grant } from './grants/grant.ts';
import { getDiscovery } from './http/get-discovery.ts';
import { getKeys } from './http/get-keys.ts';
import { auditRefusal, identifyRealm, neverCached, requestToken } from './http/request-token.ts';
import { KeyRing } from './store/key-ring.ts';

export type IdentityProviderBacking = {
  readonly registry: Registry;
  readonly storage: Storage;
  readonly events: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Seals the private signing keys. */
  readonly sealer: Sealer;
};

/**
 * The identity provider: realms, clients, signing keys, access tokens. Mounted at `/idp`, prefix removed.
 * @throws TypeError when production is given a registry with demo clients or secrets
 */
export function identityProvider(config: IdentityProviderConfig, backing: IdentityProviderBacking): Service {
  const { publicUrl, audience, isProduction, keyRotationDays } = config;
  const { registry, events, clock } = backing;
  if (isProduction) assertProductionRegistry(registry);
  const realms = createRealms(registry, publicUrl);
  const keyRing = new KeyRing({ ...backing, realms, rotateEveryDays: keyRotationDays });
  const grants = [clientCredentials({ audience, keyRing, events, clock })];

  const router = createRouter();
  router.use(tokenRoutes({ realms, grants, clock, events }));
  router
    .route('/*realm/v2.0/.well-known/openid-configuration')
    .get(getDiscovery({ realms, grants, publicUrl, scopes: [defaultScope(audience)] }))
    .all(onlyMethods('GET', 'HEAD'));
  router.route('/*realm/discovery/v2.0/keys').get(getKeys(realms, keyRing)).all(onlyMethods('GET', 'HEAD'));
  router.use(errorEdge({ dialect: oauthDialect }));
  return { name: 'identity-provider', router, start: () => keyRing.start() };
}

function tokenRoutes({
  realms,
  grants,
  clock,
  events,
}: {
  realms: Realms;
  grants: readonly Grant[];
  clock: Clock;
  events: Outbox;
}): Router {
  const router = createRouter();
  const limiter = createRateLimiter(clock);
  router
    .route('/*realm/oauth2/v2.0/token')
    .all(neverCached, identifyRealm(realms))
    .post(requestToken({ realms, grants, limiter, clock }))
    .all(onlyMethods('POST'));
  router.use(errorEdge({ dialect: oauthDialect, audit: auditRefusal(events) }));
  return router;
}
