import type { Sealer } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import {
  type AccessTokenVerifier,
  type Clock,
  createRateLimiter,
  createRouter,
  errorEdge,
  type Logger,
  oauthDialect,
  type RegistrySource,
  type Service,
} from '@clinical-launch/service';
import type { Storage } from '@clinical-launch/storage';
import type { Tickets } from '@clinical-launch/tickets';
import type { IdentityProviderConfig } from './config.ts';
import { assertProductionRegistry } from './domain/production-registry.ts';
import { createRealms } from './domain/realms.ts';
import { authorizationCode } from './grants/authorization-code.ts';
import { clientCredentials, defaultScope } from './grants/client-credentials.ts';
import { createTokenIssue } from './grants/issue-tokens.ts';
import { refreshToken } from './grants/refresh-token.ts';
import { desktopRoutes, publishedRoutes, tokenRoutes } from './http/routes.ts';
import { KeyRing } from './store/key-ring.ts';
import { createOwnTokens } from './store/own-tokens.ts';

export type IdentityProviderBacking = {
  /** May change while the service runs; what it says then holds from the next request on. */
  readonly registry: RegistrySource;
  readonly storage: Storage;
  readonly tickets: Tickets;
  readonly events: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Seals the private signing keys, and what access tokens carry for the resource API. */
  readonly sealer: Sealer;
  /** Verifies the tokens of host applications and resource servers. */
  readonly tokens: AccessTokenVerifier;
};

/**
 * The identity provider: realms, clients, signing keys, access tokens, and the desktop launch from launch identifier to
 * tokens. Mounted at `/idp`, prefix removed.
 * @throws TypeError when production is given a registry with demo clients or secrets
 */
export function identityProvider(config: IdentityProviderConfig, backing: IdentityProviderBacking): Service {
  const { publicUrl, audience, isProduction, keyRotationDays } = config;
  const { registry, events, clock, tickets, sealer } = backing;
  if (isProduction) assertProductionRegistry(registry.current());
  const realms = createRealms(registry, publicUrl);
  const keyRing = new KeyRing({ ...backing, realms, rotateEveryDays: keyRotationDays });
  const prepareTokens = createTokenIssue({ audience, keyRing, sealer, clock });
  const grants = [
    clientCredentials({ audience, keyRing, events, clock }),
    authorizationCode(tickets, prepareTokens),
    refreshToken({ tickets, prepareTokens, events }),
  ];
  const parts = {
    ...backing,
    realms,
    keyRing,
    grants,
    publicUrl,
    isProduction,
    scopes: [defaultScope(audience)],
    findOwnToken: createOwnTokens({ audience, keyRing, clock }),
    limiter: createRateLimiter(clock),
  };

  const router = createRouter();
  router.use(tokenRoutes(parts), desktopRoutes(parts), publishedRoutes(parts));
  router.use(errorEdge({ dialect: oauthDialect }));
  return { name: 'identity-provider', router, start: () => keyRing.start() };
}
