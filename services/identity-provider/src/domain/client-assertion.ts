import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import type { RegisteredClient } from '@clinical-launch/contracts/registry';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { bothTimes, clockToleranceSeconds, expiryToleranceSeconds } from '@clinical-launch/contracts/time';
import { Type } from '@clinical-launch/contracts/type';
import type { VerificationKeys } from '@clinical-launch/trust/verification-keys';
import { decodeJwt, errors } from 'jose';

/** The type of a client assertion (RFC 7523 section 2.2). */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The longest lifetime of a client assertion in seconds. MSAL signs assertions that live for ten minutes. */
const maxLifeSeconds = 10 * 60;
/**
 * The accepted values of the header `typ`, in lower case. Most libraries send `JWT`. The draft that updates
 * RFC 7523 defines `client-authentication+jwt`.
 */
const types = new Set([undefined, 'jwt', 'client-authentication+jwt']);

const claimsForm = compileSchema(
  Type.Object({
    iss: Type.String(),
    sub: Type.String(),
    aud: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 1 })]),
    exp: Type.Number(),
    iat: Type.Optional(Type.Number()),
    jti: Type.String({ minLength: 1, maxLength: 200 }),
  }),
);

type AssertionFault =
  | 'wrong_assertion'
  | 'faulty_assertion'
  | 'assertion_of_other_client'
  | 'assertion_for_other_audience'
  | 'assertion_out_of_time';

/** Why an assertion is refused: for a refusal because of a clock, both times, or the error that has them. */
type RefusedAssertion = {
  readonly fault: AssertionFault;
  readonly times?: string;
  readonly cause?: unknown;
};

/** A verified assertion: its `jti`, and the seconds for which the `jti` must not be accepted again. */
export type VerifiedAssertion = { readonly id: string; readonly singleUseSeconds: number };

/** Returns whether a client or partner has registered keys, with which it can sign assertions. */
export function hasKeys({ jwks, jwksUri }: Pick<RegisteredClient, 'jwks' | 'jwksUri'>): boolean {
  return jwks !== undefined || jwksUri !== undefined;
}

/** Returns the client that an unverified assertion names, to select the verification keys. */
export function claimedClient(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a client assertion (RFC 7523 section 3). A key of the client must have signed the assertion with
 * an asymmetric algorithm. Its `iss` and `sub` are the client, and its `aud` is exactly one of `audiences`.
 * It has a `jti`, and an `exp` at most ten minutes ahead. Reports invalid claims only if the signature is
 * valid.
 */
export async function verifyClientAssertion(
  assertion: string,
  expected: {
    readonly clientId: string;
    readonly keys: VerificationKeys;
    readonly audiences: readonly string[];
    /** The current time in milliseconds since 1970. */
    readonly now: number;
  },
): Promise<VerifiedAssertion | RefusedAssertion> {
  try {
    const { payload, protectedHeader } = await expected.keys.verify(assertion, {
      algorithms: asymmetricAlgorithms,
      currentDate: new Date(expected.now),
    });
    if (!types.has(protectedHeader.typ?.toLowerCase())) return { fault: 'faulty_assertion' };
    return checkClaims(payload, expected);
  } catch (error) {
    if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
      return { fault: 'assertion_out_of_time', cause: error };
    if (error instanceof errors.JOSEError) return { fault: 'wrong_assertion' };
    throw error;
  }
}

function checkClaims(
  claims: unknown,
  { clientId, audiences, now }: { clientId: string; audiences: readonly string[]; now: number },
): VerifiedAssertion | RefusedAssertion {
  if (!claimsForm.is(claims)) return { fault: 'faulty_assertion' };
  const { iss, sub, exp, jti } = claims;
  const [audience = ''] = [claims.aud].flat();
  const nowSeconds = now / 1000;
  if (iss !== clientId || sub !== clientId) return { fault: 'assertion_of_other_client' };
  if (!audiences.includes(audience)) return { fault: 'assertion_for_other_audience' };
  if (exp > nowSeconds + maxLifeSeconds + clockToleranceSeconds)
    return { fault: 'assertion_out_of_time', times: bothTimes('exp', exp, now) };
  return { id: jti, singleUseSeconds: exp + expiryToleranceSeconds - nowSeconds + 1 };
}
