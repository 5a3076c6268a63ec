import { createHash } from 'node:crypto';
import { type DesktopContext, patientContextJson } from '@clinical-launch/contracts';
import { notBeforeSlackSeconds } from './access-token.ts';
import type { IssuingRealm, SigningAlgorithm } from './realms.ts';
import { confirmationOf, type TokenBinding } from './token-binding.ts';

/** How the user was authenticated: by the host application, which vouched for them when it asked for the launch. */
export const launchedByHost = 'urn:clinical-launch:acr:launched-by-host';

/** Version of the ID token's claims. */
const idTokenVersion = '1.0';

type TokenOf = {
  readonly realm: IssuingRealm;
  readonly context: DesktopContext;
  /** milliseconds since 1970 */
  readonly now: number;
  readonly expiresInSeconds: number;
};

/** The lifetime of a launch's tokens: the realm's, or what the chain has left, so that none outlives its launch. */
export function desktopTokenSeconds(
  { accessTokenSeconds }: IssuingRealm,
  chainEndsInSeconds = Number.POSITIVE_INFINITY,
): number {
  return Math.min(accessTokenSeconds, Math.max(1, Math.ceil(chainEndsInSeconds)));
}

/**
 * The claims of a partner's access token (RFC 9068 section 2.2). It acts for the user: its rights are those of the
 * scope and of `authorizations`. What would tell of the patient is sealed, for the resource API alone.
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
    /** The chain that it ends with, when that is revoked. */
    sid: context.launchId,
    authorizations: context.authorizations,
    launch_context: sealedContext,
    ...confirmationOf(binding),
  };
}

/**
 * The claims of the ID token: those of the specification's table (Desktop: ID token claims), and `sid` for some
 * partners.
 */
export function idTokenClaims({
  realm,
  context,
  accessTokenHash,
  nonce,
  hasSession,
  ...times
}: TokenOf & { accessTokenHash: string; nonce: string | undefined; hasSession: boolean }) {
  const { user, organisation, authorizations, patient } = context;
  return {
    ...lifetime(times),
    auth_time: context.authTime,
    ver: idTokenVersion,
    iss: realm.issuer,
    sub: user.userERN,
    aud: context.clientId,
    acr: launchedByHost,
    // OpenID Connect Core 1.0 section 3.1.3.7: a client that asked for none refuses one.
    ...(nonce === undefined ? {} : { nonce }),
    at_hash: accessTokenHash,
    // For a partner that is told when the launch is revoked: the logout token names it so.
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
  };
}

function lifetime({ now, expiresInSeconds }: Pick<TokenOf, 'now' | 'expiresInSeconds'>) {
  const issuedAt = Math.floor(now / 1000);
  return { iat: issuedAt, nbf: issuedAt - notBeforeSlackSeconds, exp: issuedAt + expiresInSeconds };
}

/** The hash that belongs to each signature: that of the algorithm itself; Ed25519 signs by SHA-512 (RFC 8032). */
const hashes = { RS256: 'sha256', ES256: 'sha256', EdDSA: 'sha512' } as const;

/** `at_hash`: the left half of the access token's hash (OpenID Connect Core 1.0 section 3.1.3.6). */
export function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): string {
  const digest = createHash(hashes[algorithm]).update(accessToken, 'ascii').digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
