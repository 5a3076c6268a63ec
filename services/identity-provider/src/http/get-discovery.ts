import type { RequestHandler } from 'express';
import { launchedByHost } from '../domain/desktop-tokens.ts';
import type { DesktopIssuingRealm, IssuingRealm, Realms } from '../domain/realms.ts';
import { type Grant, isOffered } from '../grants/grant.ts';
import type { KeyRing } from '../store/key-ring.ts';
import { clientAuthenticationMethods } from './client-credentials.ts';
import { desktopRealmOfPath, isDesktopRealm, type RealmParams, realmOfPath } from './realm-of-path.ts';

type DiscoveryParts = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly keyRing: KeyRing;
  readonly publicUrl: string;
  /** What clients with a secret may ask for. */
  readonly scopes: readonly string[];
};

/**
 * `GET {issuer}/.well-known/openid-configuration` (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2): what
 * exists here and nothing else, with the lists that the standards require even where they are empty.
 */
export function getDiscovery(parts: DiscoveryParts): RequestHandler<RealmParams> {
  return async (request, response) => {
    const realm = realmOfPath(parts.realms, request.params);
    const keys = await parts.keyRing.publicKeys(realm);
    response.set('Cache-Control', 'public, max-age=300').json({
      ...sharedMetadata(parts, realm),
      token_endpoint_auth_methods_supported: authenticationMethods(realm),
      subject_types_supported: ['public'],
      // While an algorithm is changed, tokens of both are about.
      id_token_signing_alg_values_supported: [
        ...new Set([...keys.map(({ alg }) => alg), realm.signingAlgorithm]),
      ],
      ...(isDesktopRealm(realm) ? openIdMetadata(realm) : { response_types_supported: [] }),
    });
  };
}

/**
 * `GET {issuer}/.well-known/smart-configuration` (SMART App Launch 2.2, Conformance): for clients that start from `iss` and
 * `launch`. The patient is told in the ID token alone, so no capability says otherwise.
 */
export function getSmartConfiguration(parts: DiscoveryParts): RequestHandler<RealmParams> {
  return (request, response) => {
    const realm = desktopRealmOfPath(parts.realms, request.params);
    response.set('Cache-Control', 'public, max-age=300').json({
      ...sharedMetadata(parts, realm),
      token_endpoint_auth_methods_supported: authenticationMethods(realm),
      capabilities: ['launch-ehr', 'client-public', 'authorize-post', 'permission-offline'],
    });
  };
}

function sharedMetadata({ publicUrl, grants, scopes }: DiscoveryParts, realm: IssuingRealm) {
  const base = `${publicUrl}/idp/${realm.name}`;
  const clientScopes = hasClients(realm) ? scopes : [];
  return {
    issuer: realm.issuer,
    token_endpoint: `${base}/oauth2/v2.0/token`,
    jwks_uri: `${base}/discovery/v2.0/keys`,
    grant_types_supported: grants.filter((grant) => isOffered(grant, realm)).map(({ type }) => type),
    scopes_supported: [...clientScopes, ...(isDesktopRealm(realm) ? partnerScopes(realm) : [])],
    ...(isDesktopRealm(realm) ? desktopMetadata(base) : {}),
  };
}

function desktopMetadata(base: string) {
  return {
    authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
    revocation_endpoint: `${base}/oauth2/v2.0/revoke`,
    revocation_endpoint_auth_methods_supported: ['none'],
    introspection_endpoint: `${base}/oauth2/v2.0/introspect`,
    // RFC 8414 section 2 has access token types here too.
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
  };
}

function openIdMetadata({ desktop }: DesktopIssuingRealm) {
  return {
    acr_values_supported: [launchedByHost],
    claim_types_supported: ['normal'],
    claims_supported: idTokenClaimNames,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    // Counts as true when it is absent.
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: desktop.sendsIssuer,
  };
}

/** Desktop: ID token claims */
const idTokenClaimNames =
  'exp nbf iat auth_time ver iss sub aud acr nonce at_hash email userERN title firstName familyName orgERN orgName cdb ods authorizations authorizationDetails'.split(
    ' ',
  );

function partnerScopes({ desktop }: DesktopIssuingRealm): string[] {
  return [...new Set([...desktop.partners.values()].flatMap(({ scopes }) => scopes))];
}

function authenticationMethods(realm: IssuingRealm): string[] {
  return [
    ...(isDesktopRealm(realm) ? ['none'] : []),
    ...(hasClients(realm) ? clientAuthenticationMethods : []),
  ];
}

const hasClients = (realm: IssuingRealm) => realm.desktop === undefined || realm.clients.size > 0;
