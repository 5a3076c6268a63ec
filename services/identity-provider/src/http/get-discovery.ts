import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import { agreedAcrValues } from '@clinical-launch/contracts/sign-in';
import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { hasKeys } from '../domain/client-assertion.ts';
import { launchedByHost } from '../domain/desktop-tokens.ts';
import type { DesktopIssuingRealm, DesktopSettings, IssuingRealm, Realms } from '../domain/realms.ts';
import { claimScopes, scopeCapabilities } from '../domain/smart-context.ts';
import { type Grant, isOffered } from '../grants/grant.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { clientAuthenticationMethods } from './authenticate-client.ts';
import { hostRight } from './issue-launch.ts';
import { type DesktopExchange, isDesktopRealm, type RealmExchange } from './realm-guards.ts';

type DiscoveryDependencies = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly keyRing: KeyRing;
  readonly publicUrl: string;
  readonly scopes: readonly string[];
  readonly clientCertificateHeader?: string | undefined;
};

/**
 * Publishes the endpoints and features of a realm: `GET {issuer}/.well-known/openid-configuration` (OpenID
 * Connect Discovery 1.0 section 3, RFC 8414 section 2).
 */
export function getDiscovery(dependencies: DiscoveryDependencies): Handler<RealmExchange> {
  return async ({ realm, response }) => {
    const keys = await dependencies.keyRing.publicKeys(realm);
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendJson(response, {
      ...sharedMetadata(dependencies, realm),
      ...tokenAuthentication(realm, dependencies),
      subject_types_supported: ['public'],
      // While the algorithm changes, tokens of the old and the new algorithm are valid.
      id_token_signing_alg_values_supported: [
        ...new Set([...keys.map(({ alg }) => alg), realm.signingAlgorithm]),
      ],
      ...(isDesktopRealm(realm) ? openIdMetadata(realm, dependencies) : {}),
    });
  };
}

/**
 * Publishes the configuration for clients that start from `iss` and `launch`: `GET
 * {issuer}/.well-known/smart-configuration` (SMART App Launch 2.2, Conformance). The issuer is also the base
 * address of the FHIR resources.
 */
export function getSmartConfiguration(dependencies: DiscoveryDependencies): Handler<DesktopExchange> {
  return ({ realm, response }) => {
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendJson(response, {
      ...sharedMetadata(dependencies, realm),
      ...tokenAuthentication(realm, dependencies),
      capabilities: [
        'launch-ehr',
        'client-public',
        'authorize-post',
        ...(partnersHaveKeys(realm) ? ['client-confidential-asymmetric'] : []),
        ...scopeCapabilities(partnerScopes(realm), realm),
      ],
    });
  };
}

function sharedMetadata(dependencies: DiscoveryDependencies, realm: IssuingRealm) {
  const { grants, scopes } = dependencies;
  const base = realm.baseUrl;
  const clientScopes = hasClients(realm) ? scopes : [];
  return {
    issuer: realm.issuer,
    // Clients refuse a document without these two members (OpenID Connect Discovery 1.0 section 3), even if
    // they request only client credentials.
    authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
    response_types_supported: ['code'],
    token_endpoint: `${base}/oauth2/v2.0/token`,
    jwks_uri: `${base}/discovery/v2.0/keys`,
    ...revocationMetadata(realm, dependencies),
    introspection_endpoint: `${base}/oauth2/v2.0/introspect`,
    // RFC 8414 section 2 also allows types of access tokens in this list.
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    grant_types_supported: grants.filter((grant) => isOffered(grant, realm)).map(({ type }) => type),
    scopes_supported: [...clientScopes, ...(isDesktopRealm(realm) ? partnerScopes(realm) : [])],
    ...(isDesktopRealm(realm) ? desktopMetadata(realm) : {}),
  };
}

function desktopMetadata(realm: DesktopIssuingRealm) {
  const base = realm.baseUrl;
  return {
    pushed_authorization_request_endpoint: `${base}/oauth2/v2.0/par`,
    require_pushed_authorization_requests: false,
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: asymmetricAlgorithms,
  };
}

function openIdMetadata({ desktop }: DesktopIssuingRealm, { realms, publicUrl }: DiscoveryDependencies) {
  return {
    // The resource API checks the access token, as for every other resource.
    userinfo_endpoint: `${publicUrl}/resource/userinfo`,
    acr_values_supported: supportedAcrValues(realms),
    claim_types_supported: ['normal'],
    claims_supported: [
      ...claimNames,
      ...(isAnyNotified(desktop) ? ['sid'] : []),
      ...claimScopes.filter((scope) => partnerScopes({ desktop }).includes(scope)),
    ],
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    // If this member is absent, clients assume true.
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: desktop.sendsIssuer,
  };
}

/**
 * Returns the values of `acr` that a host application of any realm may send, and the `acr` of a launch whose
 * host sends none.
 */
function supportedAcrValues(realms: Realms): string[] {
  const hosts = realms
    .all()
    .flatMap(({ clients }) => [...clients.values()])
    .filter(({ scopes }) => scopes.includes(hostRight));
  return [...new Set([launchedByHost, ...hosts.flatMap(({ acrValues }) => agreedAcrValues(acrValues))])];
}

const isAnyNotified = ({ partners }: DesktopSettings) =>
  [...partners.values()].some(({ backchannelLogoutUri }) => backchannelLogoutUri !== undefined);

/** The claims of the ID token (Desktop: ID token claims), and further claims of the UserInfo response. */
const claimNames =
  'exp nbf iat auth_time ver iss sub aud acr amr nonce at_hash email userERN title firstName familyName orgERN orgName cdb ods authorizations authorizationDetails name given_name family_name'.split(
    ' ',
  );

function partnerScopes({ desktop }: Pick<DesktopIssuingRealm, 'desktop'>): string[] {
  return [...new Set([...desktop.partners.values()].flatMap(({ scopes }) => scopes))];
}

function tokenAuthentication(realm: IssuingRealm, dependencies: CertificateSetting) {
  const { methods, algorithms } = authenticationOf(realm, dependencies);
  return {
    token_endpoint_auth_methods_supported: methods,
    // Access tokens can be bound to certificates (RFC 8705 section 3.3).
    ...(seesCertificates(dependencies) ? { tls_client_certificate_bound_access_tokens: true } : {}),
    ...(algorithms && { token_endpoint_auth_signing_alg_values_supported: algorithms }),
  };
}

/**
 * Returns the metadata of the revocation endpoint (RFC 7009). Clients authenticate as at the token endpoint.
 */
function revocationMetadata(realm: IssuingRealm, dependencies: CertificateSetting) {
  const { methods, algorithms } = authenticationOf(realm, dependencies);
  return {
    revocation_endpoint: `${realm.baseUrl}/oauth2/v2.0/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    ...(algorithms && { revocation_endpoint_auth_signing_alg_values_supported: algorithms }),
  };
}

type CertificateSetting = Pick<DiscoveryDependencies, 'clientCertificateHeader'>;

const seesCertificates = ({ clientCertificateHeader }: CertificateSetting) =>
  clientCertificateHeader !== undefined;

/** Returns the authentication methods of the realm's clients and partners (RFC 8414 section 2). */
function authenticationOf(realm: IssuingRealm, dependencies: CertificateSetting) {
  const methods = [
    ...(isDesktopRealm(realm) ? ['none'] : []),
    ...(hasClients(realm) ? clientAuthenticationMethods : []),
    ...(seesCertificates(dependencies) ? certificateMethods(realm) : []),
  ];
  const hasAssertions =
    [...realm.clients.values()].some(hasKeys) || (isDesktopRealm(realm) && partnersHaveKeys(realm));
  return hasAssertions
    ? { methods: [...methods, 'private_key_jwt'], algorithms: asymmetricAlgorithms }
    : { methods };
}

/**
 * Returns the methods of mutual TLS for which clients and partners have registered certificates (RFC 8705
 * section 2).
 */
function certificateMethods(realm: IssuingRealm): string[] {
  const partners = isDesktopRealm(realm) ? realm.desktop.partners.values() : [];
  const registered = [...realm.clients.values(), ...partners];
  return [
    ...(registered.some((one) => one.tlsClientAuthSanDns !== undefined) ? ['tls_client_auth'] : []),
    ...(registered.some((one) => one.tlsClientCertificateThumbprints !== undefined)
      ? ['self_signed_tls_client_auth']
      : []),
  ];
}

const partnersHaveKeys = ({ desktop }: DesktopIssuingRealm) => [...desktop.partners.values()].some(hasKeys);

const hasClients = (realm: IssuingRealm) => realm.desktop === undefined || realm.clients.size > 0;

/**
 * Publishes the realm's public keys: `GET /{realm}/discovery/v2.0/keys` (RFC 7517 section 5). Caches may
 * store the keys for five minutes, and clients for another ten minutes. Each key is published for these 15
 * minutes before it signs.
 */
export function getKeys(keyRing: KeyRing): Handler<RealmExchange> {
  return async ({ realm, response }) => {
    const keys = await keyRing.publicKeys(realm);
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendJson(response, { keys });
  };
}
