import type { JWTPayload } from 'jose';
import { invalidToken } from './invalid-token.ts';

/**
 * The maximum lifetime of a token: a week, because no known issuer issues access tokens for longer than about
 * a day.
 */
const maxLifeSeconds = 7 * 24 * 3600;

/**
 * Checks the times of a token that jose does not check (NumericDate, RFC 7519 section 2): they must be finite
 * and in order, and the token must be neither from the future nor valid for ever.
 * @param latestNow seconds since 1970, with the tolerance for clocks that differ
 * @throws ServiceError 401
 */
export function assertPossibleTimes({ exp, iat, nbf }: JWTPayload, latestNow: number): void {
  const times = [exp, iat, nbf].filter((time) => time !== undefined);
  // JSON allows numbers that JSON.parse reads as infinite, such as 1e400.
  if (!times.every((time) => Number.isFinite(time))) throw invalidToken('a time of the token is no date');
  if (exp === undefined || exp > latestNow + maxLifeSeconds) throw invalidToken('the token expires too late');
  // This check is needed, because jose checks `iat` only together with a maximum age.
  if (iat !== undefined && iat > latestNow) throw invalidToken('the token is from the future');
  if (iat !== undefined && exp <= iat) throw invalidToken('the token expires before it is issued');
}

/**
 * Claims that only ID tokens and logout tokens have (OpenID Connect Core 1.0 section 2, Back-Channel Logout
 * 1.0 section 2.4).
 */
const foreignClaims = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];

/**
 * Returns whether claims are those of an ID token, which states that a person signed in and grants nothing.
 * The audience of an ID token is always the client itself (OpenID Connect Core 1.0 section 2). The audience
 * of an access token is the API.
 */
export const isIdToken = (claims: JWTPayload, isClient: (audience: string | undefined) => boolean): boolean =>
  [claims.aud].flat().some(isClient) ||
  claims['token_use'] === 'id' ||
  foreignClaims.some((name) => name in claims);

/** Refuses an ID token whose header does not show that it is one. @throws ServiceError 401 */
export function assertNoIdToken(claims: JWTPayload, clientId: string): void {
  if (isIdToken(claims, (audience) => audience === clientId)) throw invalidToken('the token is an ID token');
}
