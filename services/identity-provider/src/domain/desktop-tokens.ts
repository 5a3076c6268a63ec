import { createHash } from 'node:crypto';
import { type DesktopContext, patientContextJson } from '@clinical-launch/contracts';
import { notBeforeSlackSeconds } from './access-token.ts';
import type { IssuingRealm, SigningAlgorithm } from './realms.ts';

/** How the user was authenticated: by the host application, which vouched for them when it asked for the launch. */
export const launchedByHost = 'urn:clinical-launch:acr:launched-by-host';

/** Version of the ID token's claims. */
const idTokenVersion = '1.0';

type TokenOf = {
  readonly realm: IssuingRealm;
  readonly context: DesktopContext;
  /** milliseconds since 1970 */
  readonly now: number;
};

/**
 * The claims of a partner's access token (RFC 9068 section 2.2). It acts for the user: its rights are those of the
 * scope and of `authorizations`. What would tell of the patient is sealed, for the resource API alone.
 */
export function desktopAccessTokenClaims({
  realm,
  context,
  now,
  audience,
  tokenId,
  scope,
  sealedContext,
}: TokenOf & { audience: string; tokenId: string; scope: string; sealedContext: string }) {
  return {
    iss: realm.issuer,
    sub: context.user.userERN,
    aud: audience,
    client_id: context.clientId,
    jti: tokenId,
    ...lifetime(realm, now),
    scope,
    /** The chain that it ends with, when that is revoked. */
    sid: context.launchId,
    authorizations: context.authorizations,
    launch_context: sealedContext,
  };
}

/** The claims of the ID token, all those of the specification's table (Desktop: ID token claims) and no others. */
export function idTokenClaims({
  realm,
  context,
  now,
  accessTokenHash,
  nonce,
}: TokenOf & { accessTokenHash: string; nonce: string | undefined }) {
  const { user, organisation, authorizations, patient } = context;
  return {
    ...lifetime(realm, now),
    auth_time: context.authTime,
    ver: idTokenVersion,
    iss: realm.issuer,
    sub: user.userERN,
    aud: context.clientId,
    acr: launchedByHost,
    // OpenID Connect Core 1.0 section 3.1.3.7: a client that asked for none refuses one.
    ...(nonce === undefined ? {} : { nonce }),
    at_hash: accessTokenHash,
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

function lifetime({ accessTokenSeconds }: IssuingRealm, now: number) {
  const issuedAt = Math.floor(now / 1000);
  return { iat: issuedAt, nbf: issuedAt - notBeforeSlackSeconds, exp: issuedAt + accessTokenSeconds };
}

/** The hash that belongs to each signature: that of the algorithm itself; Ed25519 signs by SHA-512 (RFC 8032). */
const hashes = { RS256: 'sha256', ES256: 'sha256', EdDSA: 'sha512' } as const;

/** `at_hash`: the left half of the access token's hash (OpenID Connect Core 1.0 section 3.1.3.6). */
export function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): string {
  const digest = createHash(hashes[algorithm]).update(accessToken, 'ascii').digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
