import type { JWTPayload } from 'jose';
import { invalidToken } from './invalid-token.ts';

/**
 * The maximum lifetime of a token: a week, because no known issuer issues access tokens for longer than about
 * a day.
 */
const maxLifeSeconds = 7 * 24 * 3600;

/**
 * Checks the times of a token that no other check covers (NumericDate, RFC 7519 section 2). They must be
 * finite and in order, and the token must expire within a week.
 * @param latestNow seconds since 1970, with the tolerance for clocks that differ
 * @throws ServiceError 401
 */
export function assertPossibleTimes({ exp, iat, nbf }: JWTPayload, latestNow: number): void {
  const times = [exp, iat, nbf].filter((time) => time !== undefined);
  // JSON.parse converts large numbers such as 1e400 to Infinity.
  if (!times.every((time) => Number.isFinite(time)))
    throw invalidToken('a time in the token is not a finite number');
  if (exp === undefined || exp > latestNow + maxLifeSeconds)
    throw invalidToken('the token expires more than a week from now');
  if (iat !== undefined && exp <= iat) throw invalidToken('the token expires before it was issued');
}

/**
 * Claims that only ID tokens and logout tokens have (OpenID Connect Core 1.0 section 2, Back-Channel Logout
 * 1.0 section 2.4).
 */
const foreignClaims = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];

/**
 * Returns whether claims are those of an ID token. An ID token states that a person signed in, and grants no
 * rights. The audience of an ID token is always the client itself (OpenID Connect Core 1.0 section 2). The
 * audience of an access token is the API.
 */
export const isIdToken = (claims: JWTPayload, isClient: (audience: string | undefined) => boolean): boolean =>
  [claims.aud].flat().some(isClient) ||
  claims['token_use'] === 'id' ||
  foreignClaims.some((name) => name in claims);

/**
 * Refuses ID tokens by their claims, for issuers whose access tokens have no `typ` of their own.
 * @throws ServiceError 401
 */
export function assertNoIdToken(claims: JWTPayload, clientId: string): void {
  if (isIdToken(claims, (audience) => audience === clientId)) throw invalidToken('the token is an ID token');
}
