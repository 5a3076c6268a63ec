import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { setHeaders } from '@clinical-launch/http/answer';
import { allowAnyOrigin, anyOriginHeaders } from '@clinical-launch/http/cross-origin';
import type { DirectRoute } from '@clinical-launch/http/direct-routes';
import { oauthDialect } from '@clinical-launch/http/errors';
import { type DirectExchange, directEndpoint, type Exchange, endpoint } from '@clinical-launch/http/exchange';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { createRouter } from '@clinical-launch/http/router';
import type { Mounted } from '@clinical-launch/http/server';
import type { Attempts } from '@clinical-launch/limits/attempts';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { RevokedTokens } from '@clinical-launch/tickets/revocations/revoked-tokens';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { Router } from 'express';
import { eventSource as source } from '../domain/addresses.ts';
import type { Realms } from '../domain/realms.ts';
import type { Grant } from '../grants/grant.ts';
import type { FindClientKeys } from '../keys/client-keys.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { FindOwnToken } from '../keys/own-tokens.ts';
import { auditAuthorizeRefusal, authorize } from './authorize.ts';
import { authorizeDialect } from './authorize-dialect.ts';
import { createLaunchCaller } from './call-launch-url.ts';
import { type Found, inDesktopRealm, inRealm, type RealmParams, type RealmRequest } from './door.ts';
import { endLaunch, type LaunchParams } from './end-launch.ts';
import { getDiscovery, getSmartConfiguration } from './get-discovery.ts';
import { getKeys } from './get-keys.ts';
import { introspectToken } from './introspect-token.ts';
import { auditLaunchRefusal, issueLaunch } from './issue-launch.ts';
import { pushAuthorizationRequest } from './push-authorization-request.ts';
import { auditRefusal, neverCached, neverCachedHeaders, requestToken } from './request-token.ts';
import { revokeToken } from './revoke-token.ts';

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
  readonly pseudonyms: PatientPseudonyms;
  readonly scopes: readonly string[];
  readonly clientCertificateHeader?: string | undefined;
};

const tokenPath = '/*realm/oauth2/v2.0/token';

/** Creates the routes that issue, revoke and introspect tokens; those of the launch path without Express. */
export function tokenRoutes(parts: RouteParts): Mounted {
  const open = inRealm(parts.realms);
  const shared = { source, dialect: oauthDialect, audit: auditRefusal };
  const token = directEndpoint({
    ...shared,
    open: open<DirectExchange<Found, RealmParams>>,
    methods: { POST: requestToken(parts) },
  });
  const direct: DirectRoute = {
    method: 'POST',
    path: tokenPath,
    answer(request, response, call, { realm = [] }) {
      setHeaders(response, { ...neverCachedHeaders, ...anyOriginHeaders });
      return token.direct(request, response, call, { realm });
    },
  };
  const router = createRouter().all(tokenPath, neverCached, allowAnyOrigin('POST'), token);
  for (const [name, handle] of Object.entries({
    revoke: revokeToken(parts),
    introspect: introspectToken(parts),
  })) {
    const serve = endpoint({ ...shared, open: open<RealmRequest>, methods: { POST: handle } });
    router.all(`/*realm/oauth2/v2.0/${name}`, neverCached, allowAnyOrigin('POST'), serve);
  }
  return { router, direct: [direct] };
}

/**
 * Creates the routes that start a desktop launch: for the host application, and then for the partner
 * application.
 */
export function desktopRoutes(parts: RouteParts): Router {
  const open = inRealm(parts.realms);
  const issue = issueLaunch({ ...parts, callLaunchUrl: createLaunchCaller(parts.fetchOutbound) });
  const launches = endpoint({
    source,
    dialect: oauthDialect,
    audit: auditLaunchRefusal('launches'),
    open: open<RealmRequest>,
    methods: { POST: inDesktopRealm(issue) },
  });
  const endings = endpoint({
    source,
    dialect: oauthDialect,
    audit: auditLaunchRefusal('end'),
    open: open<Exchange<Found, LaunchParams>>,
    methods: { DELETE: inDesktopRealm(endLaunch(parts)) },
  });
  const pushes = endpoint({
    source,
    dialect: oauthDialect,
    audit: auditAuthorizeRefusal('push'),
    open: open<RealmRequest>,
    methods: { POST: inDesktopRealm(pushAuthorizationRequest(parts)) },
  });
  const authorizing = inDesktopRealm(authorize(parts));
  const authorizes = endpoint({
    source,
    dialect: authorizeDialect,
    audit: auditAuthorizeRefusal('authorize'),
    open: open<RealmRequest>,
    methods: { GET: authorizing, POST: authorizing },
    // HEAD would use up the launch identifier.
    refusesHead: true,
  });
  return createRouter()
    .all('/*realm/launches', neverCached, launches)
    .all('/*realm/launches/:id', neverCached, endings)
    .all('/*realm/oauth2/v2.0/par', neverCached, allowAnyOrigin('POST'), pushes)
    .all('/*realm/oauth2/v2.0/authorize', neverCached, authorizes);
}

/** Creates the public routes of each realm, which its clients need. */
export function publishedRoutes(parts: RouteParts): Router {
  const documents = {
    'v2.0/.well-known/openid-configuration': getDiscovery(parts),
    'v2.0/.well-known/smart-configuration': inDesktopRealm(getSmartConfiguration(parts)),
    'discovery/v2.0/keys': getKeys(parts.keyRing),
  };
  const router = createRouter();
  for (const [path, get] of Object.entries(documents)) {
    const publish = endpoint({
      source,
      dialect: oauthDialect,
      open: inRealm(parts.realms)<RealmRequest>,
      methods: { GET: get, HEAD: get },
    });
    router.all(`/*realm/${path}`, allowAnyOrigin('GET'), publish);
  }
  return router;
}
