import { minRsaBits } from '@clinical-launch/contracts/client-authentication';
import { memberOf } from '@clinical-launch/contracts/schema';
import { clockToleranceSeconds, expiryToleranceSeconds } from '@clinical-launch/contracts/time';
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JWK,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { UnfitKey } from './invalid-token.ts';

type Options = JWTVerifyOptions & { readonly currentDate: Date };

/** The keys that verify the tokens of an issuer, or the assertions of a client. */
export type VerificationKeys = {
  /**
   * Verifies a JWT. `nbf` and `iat` may be `clockToleranceSeconds` ahead, and `exp` may be
   * `expiryToleranceSeconds` ago.
   * @throws errors.JOSEError if the JWT or its key is refused, and ServiceError 503 if the keys cannot be read
   */
  verify(token: string, options: Options): Promise<JWTVerifyResult>;
};

/** Returns the verification keys of a JSON Web Key Set in the registry. */
export function registeredKeys(jwks: unknown): VerificationKeys {
  const keys = readKeySet(jwks);
  return { verify: (token, options) => verifyByKeySet(token, keys, options) };
}

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

/** The keys of a JSON Web Key Set. `find` returns the key for tokens that it fits. */
export type KeySet = readonly { readonly kid: string | undefined; readonly find: KeyFinder }[];

/**
 * Reads a JSON Web Key Set. Ignores entries that are no keys (RFC 7517 section 5).
 * @throws Error if the value is not a JSON Web Key Set
 */
export function readKeySet(json: unknown): KeySet {
  const keys = memberOf(json, 'keys');
  if (!Array.isArray(keys)) throw new Error('The answer is not a JSON Web Key Set');
  return keys
    .filter(isKey)
    .map((key) => ({ kid: key.kid, find: createLocalJWKSet({ keys: [forVerification(key)] }) }));
}

const isKey = (key: unknown): key is JWK => typeof memberOf(key, 'kty') === 'string';

/**
 * Removes what jose would refuse a key for without need. `EdDSA` and `Ed25519` are names of the same algorithm
 * (RFC 9864 section 2.2), and a public key may list the operations of its private key.
 */
function forVerification({ ext: _ext, key_ops: operations, alg, ...key }: JWK): JWK {
  const canVerify = Array.isArray(operations) && operations.includes('verify');
  return {
    ...key,
    ...(alg === undefined || key.kty === 'OKP' ? {} : { alg }),
    ...(operations === undefined || canVerify ? {} : { key_ops: operations }),
  };
}

/**
 * The maximum number of keys that are tried for one token, because each try costs a verification. Issuers
 * publish two or three keys.
 */
const maxTriedKeys = 8;

/**
 * Verifies a JWT by the keys of a set. Without `kid`, or if keys share a `kid`, tries every key that fits, at
 * most `maxTriedKeys` (RFC 7515 section 4.1.4).
 * @throws errors.JOSEError: JWKSNoMatchingKey if the key of the token is not in the set
 */
export async function verifyByKeySet(
  token: string,
  keys: KeySet,
  options: Options,
): Promise<JWTVerifyResult> {
  const kid = keyIdOf(token);
  let refusal: errors.JOSEError = new errors.JWKSNoMatchingKey();
  let tried = 0;
  for (const key of keys) {
    if (tried === maxTriedKeys) break;
    if (kid !== undefined && kid !== key.kid) continue;
    try {
      const verified = await jwtVerify(token, async (...from) => fit(key.find(...from)), {
        ...options,
        clockTolerance: clockToleranceSeconds,
      });
      return assertTimes(verified, options.currentDate);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) continue;
      const isOfKey = error instanceof UnfitKey || error instanceof errors.JWSSignatureVerificationFailed;
      if (!isOfKey) throw error;
      // Without `kid`, another key may have signed the token, which is not in the set yet.
      if (kid !== undefined) refusal = error;
      tried += 1;
    }
  }
  throw refusal;
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch (cause) {
    throw new errors.JWSInvalid('The header cannot be read', { cause });
  }
}

/** Returns the key if it can verify. @throws UnfitKey, for which jose itself would throw a TypeError */
async function fit(found: ReturnType<KeyFinder>): ReturnType<KeyFinder> {
  const key = await found.catch((cause: unknown) => {
    if (cause instanceof errors.JWKSNoMatchingKey) throw cause;
    throw new UnfitKey('the published key of the token is not a valid public key', { cause });
  });
  const bits = memberOf(key.algorithm, 'modulusLength');
  if (typeof bits !== 'number' || bits >= minRsaBits) return key;
  throw new UnfitKey('the token is signed with a key that is too weak');
}

/**
 * Checks `exp` and `iat`. jose has one tolerance for `nbf` and `exp`, and checks `iat` only together with a
 * maximum age.
 * @throws errors.JWTExpired, errors.JWTClaimValidationFailed
 */
function assertTimes(verified: JWTVerifyResult, currentDate: Date): JWTVerifyResult {
  const { payload } = verified;
  const now = currentDate.getTime() / 1000;
  const { exp = Number.POSITIVE_INFINITY, iat = 0 } = payload;
  if (exp <= Math.floor(now) - expiryToleranceSeconds)
    throw new errors.JWTExpired('exp is in the past', payload, 'exp', 'check_failed');
  if (iat > now + clockToleranceSeconds)
    throw new errors.JWTClaimValidationFailed('iat is in the future', payload, 'iat', 'check_failed');
  return verified;
}
