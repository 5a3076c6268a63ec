import type { RefusalCode } from '@clinical-launch/contracts/refusals/codes';
import { bothTimes } from '@clinical-launch/contracts/time';
import { ServiceError } from '@clinical-launch/http/errors';
import { errors } from 'jose';

/**
 * The reasons for which an access token is refused. The challenge contains the reason as `error_description`.
 * `docs/reference/errors.md` explains each reason. The texts are printable ASCII without quotation marks (RFC
 * 6750 section 3).
 */
export const tokenReasons = [
  'the token has expired',
  'the token was revoked',
  'the launch was revoked',
  'the token has no valid expiry',
  'the token expires more than a week from now',
  'the token expires before it was issued',
  'the token is not valid yet',
  'the token was issued in the future',
  'a time in the token is not a finite number',
  'a claim of the token is invalid',
  'the token is for another audience',
  'the issuer is not trusted',
  'the client is not registered',
  'the token contains no client id',
  'the token has no key id',
  'the token is signed with a key that its issuer does not publish',
  'the token is signed with a key that is too weak',
  'the published key of the token is not a valid public key',
  'the token is signed with an algorithm that is not accepted',
  'the signature of the token is invalid',
  'the token cannot be read',
  'the Authorization header has no Bearer token',
  'the token is an ID token',
  'the type in the header of the token is not at+jwt',
  'the token was not issued for a desktop launch',
  'the launch context of the token cannot be decrypted',
  'the launch context of the token is not the context of a desktop launch',
  'the token is not bound to a key: send it as Bearer',
  'the token is bound to a key: send it as DPoP, with a proof',
  'the token is bound to a certificate: connect by TLS with that certificate',
  'the token is bound to a different certificate than this connection uses',
  'the token is bound only to a certificate: send it as Bearer',
  'the token is bound to a key, which this endpoint cannot check',
] as const;
export type TokenReason = (typeof tokenReasons)[number];

/** The error of a published key that cannot verify the token. */
export class UnfitKey extends errors.JOSEError {
  readonly reason: TokenReason;

  constructor(reason: TokenReason, options?: { readonly cause: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

type InvalidTokenOptions = {
  /** The challenge without `error_description`. The reason is added as `error_description`. */
  readonly challenge?: string;
  /** What follows the reason, such as the times of a refusal because of a clock. */
  readonly detail?: string | undefined;
  readonly cause?: unknown;
};

/**
 * Creates the error 401 for a refused token (RFC 6750 section 3). Its body is empty, so the challenge
 * contains the reason.
 */
export const invalidToken = (
  reason: TokenReason,
  { challenge = 'Bearer error="invalid_token"', detail, cause }: InvalidTokenOptions = {},
): ServiceError => {
  const description = detail === undefined ? reason : `${reason}: ${detail}`;
  return unauthorized(description, {
    code: 'invalid_token',
    challenge: `${challenge}, error_description="${description}"`,
    cause,
  });
};

/**
 * Creates the error 401 for a request without a token. The challenge states only how to authenticate (RFC
 * 6750 section 3.1).
 */
export function missingToken(challenge: string): ServiceError {
  return unauthorized('there is no Bearer token', { code: 'invalid_token', challenge });
}

/** Creates an error 401. The challenge is the `WWW-Authenticate` header of the response. */
export function unauthorized(
  reason: string,
  { code, challenge, cause }: { code: RefusalCode; challenge: string; cause?: unknown },
): ServiceError {
  return new ServiceError({
    status: 401,
    code,
    message: `Not authorised: ${reason}`,
    headers: { 'WWW-Authenticate': challenge },
    cause,
  });
}

/**
 * Creates the error 401 for a token that jose refused. jose checks the signature first, so the reason reveals
 * claims only to the bearer of a genuine token. If a clock is the reason, states both times.
 * @param now milliseconds since 1970
 */
export function refusedToken(error: errors.JOSEError, now: number): ServiceError {
  return invalidToken(reasonOf(error), { cause: error, detail: refusedTimes(error, now) });
}

/**
 * Returns both times of a JWT that was refused because of a clock, and undefined if it was refused for another
 * reason.
 * @param now milliseconds since 1970
 */
export function refusedTimes(error: unknown, now: number): string | undefined {
  if (!(error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed))
    return undefined;
  const seconds = error.payload[error.claim];
  return typeof seconds === 'number' ? bothTimes(error.claim, seconds, now) : undefined;
}

function reasonOf(error: errors.JOSEError): TokenReason {
  if (error instanceof UnfitKey) return error.reason;
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return reasonsByClaim.get(error.claim) ?? 'a claim of the token is invalid';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature of the token is invalid';
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'the token is signed with a key that its issuer does not publish';
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'the token is signed with an algorithm that is not accepted';
  return 'the token cannot be read';
}

const reasonsByClaim: ReadonlyMap<string, TokenReason> = new Map([
  ['aud', 'the token is for another audience'],
  ['exp', 'the token has no valid expiry'],
  ['iat', 'the token was issued in the future'],
  ['nbf', 'the token is not valid yet'],
  ['typ', 'the type in the header of the token is not at+jwt'],
]);
