import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { sendText, setHeaders, wantsPage } from '@clinical-launch/http/answer';
import { behind, type Endpoint, endpoint } from '@clinical-launch/http/endpoint';
import { type ErrorDialect, oauthDialect } from '@clinical-launch/http/errors';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Attempts } from '@clinical-launch/limits/attempts';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Chains, Once } from '@clinical-launch/tickets/chains';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import { eventSource as source } from '../domain/addresses.ts';
import type { Realms } from '../domain/realms.ts';
import type { Grant } from '../grants/grant.ts';
import type { FindClientKeys } from '../keys/client-keys.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { FindOwnToken } from '../keys/own-tokens.ts';
import { auditAuthorizeRefusal, authorize } from './authorize.ts';
import { createLaunchCaller } from './call-launch-url.ts';
import { endLaunch } from './end-launch.ts';
import { endLaunches } from './end-launches.ts';
import { getDiscovery, getKeys, getSmartConfiguration } from './get-discovery.ts';
import { introspectToken } from './introspect-token.ts';
import { auditLaunchRefusal, issueLaunch } from './issue-launch.ts';
import { pushAuthorizationRequest } from './push-authorization-request.ts';
import { inDesktopRealm, inRealm, isForPages, type RealmExchange } from './realm-guards.ts';
import { auditRefusal, neverCached, requestToken } from './request-token.ts';
import { revokeToken } from './revoke-token.ts';

export type RouteDependencies = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly keyRing: KeyRing;
  readonly findClientKeys: FindClientKeys;
  readonly findOwnToken: FindOwnToken;
  readonly tickets: Tickets;
  readonly chains: Chains;
  readonly once: Once;
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
  readonly contextSealer: Pick<Sealer, 'open'>;
  readonly scopes: readonly string[];
  readonly clientCertificateHeader?: string | undefined;
  /** The page of a refused authorization request. */
  readonly pages: Pages;
};

/** Creates the endpoints of every realm for tokens, desktop launches and discovery. */
export function realmEndpoints(dependencies: RouteDependencies): Endpoint[] {
  const guard = inRealm(dependencies.realms);
  const shared = { source, dialect: oauthDialect, guard };
  const oauth = '/*realm/oauth2/v2.0';
  const anyOrigin = isForPages(dependencies.realms);
  const tokens = { ...shared, headers: neverCached, anyOrigin, audit: auditRefusal };
  const launches = { ...shared, headers: neverCached };
  const documents = { ...shared, anyOrigin: true };

  // The discovery document of every realm names this endpoint, so 404 would be wrong.
  const inPartnerRealm = (exchange: RealmExchange) => inDesktopRealm(exchange, 'unauthorized_client');
  const authorizing = behind(inPartnerRealm, authorize(dependencies));
  const discover = getDiscovery(dependencies);
  const configure = behind(inDesktopRealm, getSmartConfiguration(dependencies));
  const keys = getKeys(dependencies.keyRing);
  return [
    endpoint({
      ...tokens,
      path: `${oauth}/token`,
      methods: { POST: requestToken(dependencies) },
      isNewLaunch: true,
    }),
    endpoint({ ...tokens, path: `${oauth}/revoke`, methods: { POST: revokeToken(dependencies) } }),
    endpoint({ ...tokens, path: `${oauth}/introspect`, methods: { POST: introspectToken(dependencies) } }),

    ...hostEndpoints(dependencies),
    endpoint({
      ...launches,
      path: `${oauth}/par`,
      anyOrigin: true,
      methods: { POST: behind(inDesktopRealm, pushAuthorizationRequest(dependencies)) },
      audit: auditAuthorizeRefusal('push'),
    }),
    endpoint({
      ...launches,
      path: `${oauth}/authorize`,
      dialect: authorizeDialect(dependencies.pages),
      methods: { GET: authorizing, POST: authorizing },
      // HEAD would use up the launch identifier.
      refusesHead: true,
      audit: auditAuthorizeRefusal('authorize'),
    }),

    endpoint({
      ...documents,
      path: '/*realm/v2.0/.well-known/openid-configuration',
      methods: { GET: discover, HEAD: discover },
    }),
    endpoint({
      ...documents,
      path: '/*realm/v2.0/.well-known/smart-configuration',
      methods: { GET: configure, HEAD: configure },
    }),
    endpoint({ ...documents, path: '/*realm/discovery/v2.0/keys', methods: { GET: keys, HEAD: keys } }),
  ];
}

function hostEndpoints(dependencies: RouteDependencies): Endpoint[] {
  const guard = inRealm(dependencies.realms);
  const shared = { source, dialect: oauthDialect, guard, headers: neverCached };
  const callLaunchUrl = createLaunchCaller(dependencies.fetchOutbound);
  return [
    endpoint({
      ...shared,
      path: '/*realm/launches',
      methods: { POST: behind(inDesktopRealm, issueLaunch({ ...dependencies, callLaunchUrl })) },
      isNewLaunch: true,
      audit: auditLaunchRefusal('launches'),
    }),
    endpoint({
      ...shared,
      path: '/*realm/launches/_end',
      methods: { POST: behind(inDesktopRealm, endLaunches(dependencies)) },
      audit: auditLaunchRefusal('end'),
    }),
    endpoint({
      ...shared,
      path: '/*realm/launches/:id',
      methods: { DELETE: behind(inDesktopRealm, endLaunch(dependencies)) },
      audit: auditLaunchRefusal('end'),
    }),
  ];
}

const title = 'The application cannot be opened';
const again = 'open the application again from the system where you started.';

/** The next step for the user after a refusal with one of these statuses. */
const advice: Readonly<Record<number, string>> = {
  429: `Wait a minute, then ${again}`,
  503: `Wait a minute, then ${again}`,
};

/**
 * Creates the dialect for errors of the authorization endpoint: a page if the request prefers HTML, as
 * browsers do, and otherwise the JSON of OAuth.
 */
function authorizeDialect(pages: Pages): ErrorDialect {
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });
  return (error, exchange) => {
    const { response, call } = exchange;
    if (!wantsPage(exchange)) return oauthDialect(error, exchange);
    const page = pages.render('refused.njk', {
      title,
      advice: advice[error.status] ?? `Close this window, then ${again}`,
      correlationId: call.correlationId,
      error: error.code,
      description: error.message,
    });
    setHeaders(response, headers);
    sendText(response, 'text/html', page);
  };
}
