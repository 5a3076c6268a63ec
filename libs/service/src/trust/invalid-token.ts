import { errors } from 'jose';
import { ServiceError } from '../http/errors.ts';

type InvalidTokenOptions = {
  readonly code?: string;
  /** The challenge without `error_description`, which is added. */
  readonly challenge?: string;
  readonly cause?: unknown;
};

/**
 * Creates the 401 of a refused token (RFC 6750 section 3). Its body is empty, so the challenge contains the
 * reason.
 * @param reason our own sentence in printable ASCII, without quotation marks; never a value of the token
 */
export function invalidToken(
  reason: string,
  { code = 'invalid_token', challenge = `Bearer error="${code}"`, cause }: InvalidTokenOptions = {},
): ServiceError {
  return unauthorized(reason, { code, challenge: `${challenge}, error_description="${reason}"`, cause });
}

/**
 * Creates the 401 of a request without a token, which only states how to authenticate (RFC 6750 section 3.1).
 */
export function missingToken(challenge: string): ServiceError {
  return unauthorized('there is no Bearer token', { code: 'invalid_token', challenge, cause: undefined });
}

function unauthorized(
  reason: string,
  { code, challenge, cause }: { code: string; challenge: string; cause: unknown },
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
 * Creates the 401 of a token that jose refused. jose checks the signature first, so only the bearer of a
 * valid token learns about its claims.
 */
export function refusedToken(error: errors.JOSEError): ServiceError {
  return invalidToken(reasonOf(error), { cause: error });
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the token expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return reasonsByClaim.get(error.claim) ?? 'a claim of the token is not valid';
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'the signature of the token is not valid';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return 'the token is signed with a key that its issuer does not publish';
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'the token is signed with an algorithm that is not accepted';
  return 'the token cannot be read';
}

const reasonsByClaim: ReadonlyMap<string, string> = new Map([
  ['aud', 'the token is for another audience'],
  ['exp', 'the token does not say when it expires'],
  ['nbf', 'the token is not valid yet'],
  ['typ', 'the type in the header of the token is not at+jwt'],
]);
