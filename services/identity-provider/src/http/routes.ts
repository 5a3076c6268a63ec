import type { Outbox } from '@clinical-launch/events';
import type { Clock } from '@clinical-launch/service';
import {
  allowAnyOrigin,
  createRouter,
  errorEdge,
  type OutboundFetch,
  oauthDialect,
  onlyMethods,
  publishDocument,
  type RateLimiter,
} from '@clinical-launch/service/http';
import type { AccessTokenVerifier, Attempts } from '@clinical-launch/service/trust';
import type { RevokedTokens, Tickets } from '@clinical-launch/tickets';
import type { RequestHandler, Router } from 'express';
import { createLaunchCaller } from '../call-launch-url.ts';
import type { Realms } from '../domain/realms.ts';
import type { Grant } from '../grants/grant.ts';
import type { FindClientKeys } from '../store/client-keys.ts';
import type { KeyRing } from '../store/key-ring.ts';
import type { FindOwnToken } from '../store/own-tokens.ts';
import { identifyRealm } from './asker.ts';
import { auditAuthorizeRefusal, authorize } from './authorize.ts';
import { authorizeDialect } from './authorize-dialect.ts';
import { endLaunch } from './end-launch.ts';
import { getDiscovery, getSmartConfiguration } from './get-discovery.ts';
import { getKeys } from './get-keys.ts';
import { introspectToken } from './introspect-token.ts';
import { auditLaunchRefusal, issueLaunch } from './issue-launch.ts';
import { pushAuthorizationRequest } from './push-authorization-request.ts';
import { auditRefusal, neverCached, requestToken } from './request-token.ts';
import { revokeToken } from './revoke-token.ts';

function publishedDescription({ grants, scopes: [scope = ''] }: RouteParts): RequestHandler {
  return publishDocument({
    contentType: 'application/json; charset=utf-8',
    make: async () => {
      const { identityProviderDocument } = await import('../openapi/document.ts');
      return JSON.stringify(identityProviderDocument({ grants, scope }));
    },
  });
}

export type RouteParts = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly keyRing: KeyRing;
  readonly findClientKeys: FindClientKeys;
  readonly findOwnToken: FindOwnToken;
  readonly tickets: Tickets;
  readonly revokedTokens: RevokedTokens;
  readonly tokens: AccessTokenVerifier;
  /** Calls launch URLs. */
  readonly fetchOutbound: OutboundFetch;
  readonly events: Outbox;
  readonly limiter: RateLimiter;
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly isProduction: boolean;
  readonly scopes: readonly string[];
  readonly clientCertificateHeader?: string | undefined;
};

/** Where tokens are given, ended and asked about. */
export function tokenRoutes(parts: RouteParts): Router {
  const { realms } = parts;
  const router = createRouter();
  const endpoints = {
    token: requestToken(parts),
    revoke: revokeToken(parts),
    introspect: introspectToken(parts),
  };
  for (const [name, endpoint] of Object.entries(endpoints)) {
    router
      .route(`/*realm/oauth2/v2.0/${name}`)
      .all(neverCached, allowAnyOrigin('POST'), identifyRealm(realms))
      .post(endpoint)
      .all(onlyMethods('POST'));
  }
  router.use(errorEdge({ dialect: oauthDialect, audit: auditRefusal }));
  return router;
}

/** Where a desktop launch begins: for the host application, and then for the partner application. */
export function desktopRoutes(parts: RouteParts): Router {
  const { realms } = parts;
  const launches = createRouter();
  launches
    .route('/*realm/launches')
    .all(neverCached, identifyRealm(realms))
    .post(issueLaunch({ ...parts, callLaunchUrl: createLaunchCaller(parts.fetchOutbound) }))
    .all(onlyMethods('POST'));
  launches.use(errorEdge({ dialect: oauthDialect, audit: auditLaunchRefusal('launches') }));

  const endings = createRouter();
  endings
    .route('/*realm/launches/:id')
    .all(neverCached, identifyRealm(realms))
    .delete(endLaunch(parts))
    .all(onlyMethods('DELETE'));
  endings.use(errorEdge({ dialect: oauthDialect, audit: auditLaunchRefusal('end') }));

  const authorizes = createRouter();
  authorizes
    .route('/*realm/oauth2/v2.0/authorize')
    .all(neverCached, identifyRealm(realms))
    // Else a HEAD would be served as a GET, and use up the launch identifier.
    .head(onlyMethods('GET', 'POST'))
    .get(authorize(parts))
    .post(authorize(parts))
    .all(onlyMethods('GET', 'POST'));
  authorizes.use(errorEdge({ dialect: authorizeDialect, audit: auditAuthorizeRefusal('authorize') }));

  const pushes = createRouter();
  pushes
    .route('/*realm/oauth2/v2.0/par')
    .all(neverCached, allowAnyOrigin('POST'), identifyRealm(realms))
    .post(pushAuthorizationRequest(parts))
    .all(onlyMethods('POST'));
  pushes.use(errorEdge({ dialect: oauthDialect, audit: auditAuthorizeRefusal('push') }));
  return createRouter().use(launches, endings, pushes, authorizes);
}

/** What anybody may read: the description of all endpoints, and of each realm what its clients need. */
export function publishedRoutes(parts: RouteParts): Router {
  const router = createRouter();
  router
    .route('/openapi.json')
    .all(allowAnyOrigin('GET'))
    .get(publishedDescription(parts))
    .all(onlyMethods('GET', 'HEAD'));
  const documents = {
    'v2.0/.well-known/openid-configuration': getDiscovery(parts),
    'v2.0/.well-known/smart-configuration': getSmartConfiguration(parts),
    'discovery/v2.0/keys': getKeys(parts.realms, parts.keyRing),
  };
  for (const [path, document] of Object.entries(documents)) {
    router.route(`/*realm/${path}`).all(allowAnyOrigin('GET')).get(document).all(onlyMethods('GET', 'HEAD'));
  }
  return router;
}
