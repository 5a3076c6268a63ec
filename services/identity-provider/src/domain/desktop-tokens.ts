import { createHash } from 'node:crypto';
import { type DesktopContext, patientContextJson } from '@clinical-launch/contracts/desktop-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { FhirIds } from '@clinical-launch/contracts/token-context';
import { confirmationOf, notBeforeSlackSeconds, type TokenBinding } from './access-token.ts';
import type { IssuingRealm, SigningAlgorithm } from './realms.ts';
import { requestedClaims } from './smart-context.ts';

/**
 * The `acr` of a launch whose host application sent none. It states only that the host application
 * authenticated the user, by its own rules, before it requested the launch.
 */
export const launchedByHost = 'urn:clinical-launch:acr:launched-by-host';

const idTokenVersion = '1.0';

type TokenOf = {
  readonly realm: IssuingRealm;
  readonly context: DesktopContext;
  /** The current time in milliseconds since 1970. */
  readonly now: number;
  readonly expiresInSeconds: number;
};

/**
 * Returns the lifetime of a launch's tokens in seconds. It is the lifetime that the realm sets, or less if
 * the launch ends earlier, so that no token outlives its launch.
 */
export function desktopTokenSeconds(
  { accessTokenSeconds }: IssuingRealm,
  chainEndsInSeconds = Number.POSITIVE_INFINITY,
): number {
  return Math.min(accessTokenSeconds, Math.max(1, Math.ceil(chainEndsInSeconds)));
}

/**
 * Returns the claims about the sign-in of the user (OpenID Connect Core 1.0 section 2). If the host
 * application sent no `auth_time`, the time is the start of the launch. If it sent no `amr`, the claim is
 * absent.
 */
export function signInClaims({ authTime, signIn = {} }: Pick<DesktopContext, 'authTime' | 'signIn'>) {
  const { acr = launchedByHost, amr, auth_time = authTime } = signIn;
  return { auth_time, acr, ...withoutUndefined({ amr }) };
}

/**
 * Returns the host application of a launch as a claim of our own. The ID token contains only the claims of the
 * specification.
 */
export const hostClaim = ({ launched_by }: Pick<DesktopContext, 'launched_by'>) =>
  withoutUndefined({ launched_by });

/**
 * Returns the claims of a partner's access token (RFC 9068 section 2.2). The token acts for the user, with
 * the rights in `scope` and `authorizations`. The patient details are encrypted for the resource API.
 */
export function desktopAccessTokenClaims({
  realm,
  context,
  audience,
  tokenId,
  scope,
  sealedContext,
  binding,
  ...times
}: TokenOf & {
  audience: string;
  tokenId: string;
  scope: string;
  sealedContext: string;
  binding: TokenBinding;
}) {
  return {
    iss: realm.issuer,
    sub: context.user.userERN,
    aud: audience,
    client_id: context.clientId,
    jti: tokenId,
    ...lifetime(times),
    scope,
    // RFC 9470 section 6 lets a resource server require a recent or a strong sign-in.
    ...signInClaims(context),
    ...hostClaim(context),
    sid: context.launchId,
    authorizations: context.authorizations,
    launch_context: sealedContext,
    ...confirmationOf(binding),
  };
}

/**
 * Returns the claims of the ID token: the specification's table (Desktop: ID token claims), `sid` for
 * partners with a logout address, and the claims that the scope requests.
 */
export function idTokenClaims({
  realm,
  context,
  scope,
  fhirIds,
  accessTokenHash,
  nonce,
  hasSession,
  ...times
}: TokenOf & {
  scope: string;
  fhirIds: FhirIds;
  accessTokenHash: string;
  nonce: string | undefined;
  hasSession: boolean;
}) {
  const { user, organisation, authorizations, patient } = context;
  return {
    ...lifetime(times),
    ...signInClaims(context),
    ver: idTokenVersion,
    iss: realm.issuer,
    sub: user.userERN,
    aud: context.clientId,
    // The token contains a nonce only if the client sent one, because the client compares the two values
    // (OpenID Connect Core 1.0 section 2).
    ...withoutUndefined({ nonce }),
    at_hash: accessTokenHash,
    // A partner with a logout address receives a logout token with the same sid when the launch is revoked.
    ...(hasSession ? { sid: context.launchId } : {}),
    email: user.email,
    userERN: user.userERN,
    title: user.title,
    firstName: user.firstName,
    familyName: user.familyName,
    orgERN: organisation.orgERN,
    orgName: organisation.orgName,
    cdb: organisation.cdb,
    ods: organisation.ods,
    authorizations,
    authorizationDetails: patientContextJson(patient),
    ...requestedClaims({ realm, context, scope, fhirIds }),
  };
}

function lifetime({ now, expiresInSeconds }: Pick<TokenOf, 'now' | 'expiresInSeconds'>) {
  const issuedAt = Math.floor(now / 1000);
  return { iat: issuedAt, nbf: issuedAt - notBeforeSlackSeconds, exp: issuedAt + expiresInSeconds };
}

/** The hash of each signature algorithm. Ed25519 uses SHA-512 (RFC 8032). */
const hashes = { RS256: 'sha256', ES256: 'sha256', EdDSA: 'sha512' } as const;

/** Returns `at_hash`: the left half of the access token's hash (OpenID Connect Core 1.0 section 3.1.3.6). */
export function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): string {
  const digest = createHash(hashes[algorithm]).update(accessToken, 'ascii').digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

/**
 * The lifetime of a logout token in seconds, at most two minutes (OpenID Connect Back-Channel Logout 1.0
 * section 2.4).
 */
const lifeSeconds = 120;

/**
 * Returns the claims of a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). It identifies
 * the launch by `sid` and contains no user and no patient.
 * @param now milliseconds since 1970
 */
export function logoutTokenClaims(about: {
  readonly issuer: string;
  readonly clientId: string;
  readonly launchId: string;
  readonly tokenId: string;
  readonly now: number;
}) {
  const issuedAt = Math.floor(about.now / 1000);
  return {
    iss: about.issuer,
    aud: about.clientId,
    iat: issuedAt,
    exp: issuedAt + lifeSeconds,
    jti: about.tokenId,
    sid: about.launchId,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };
}
