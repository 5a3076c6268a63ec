import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { ServiceError, temporarilyUnavailable } from '../http/errors.ts';
import { asResponse, type OutboundAnswer, type OutboundFetch } from '../http/outbound-fetch.ts';
import { invalidToken } from './invalid-token.ts';
import type { IssuerPolicy } from './issuer-policies.ts';

/**
 * Creates the function that finds the keys of an issuer when they are first needed. @throws ServiceError 503
 * when they cannot be fetched
 */
export function createIssuerKeys(policy: IssuerPolicy, fetchOutbound: OutboundFetch): JWTVerifyGetKey {
  const get = (address: URL) => fetchOutbound(address, { isOperators: policy.isConfigured });
  let remote: Promise<JWTVerifyGetKey> | undefined;
  const find = () => {
    remote ??= locateKeys(policy, get).then((address) =>
      createRemoteJWKSet(address, { [customFetch]: async (url) => asResponse(await get(new URL(url))) }),
    );
    // A failed look-up is not cached.
    remote.catch(() => {
      remote = undefined;
    });
    return remote;
  };
  return async (header, token) => {
    try {
      return strong(await (await find())(header, token));
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      throw temporarilyUnavailable("The issuer's signing keys could not be fetched", {
        retryAfterSeconds: 2,
        cause: error,
      });
    }
  };
}

/** RFC 7518 section 3.3. jose refuses such a key with a TypeError, as if this program were at fault. */
const leastRsaBits = 2048;

/** @throws ServiceError 401 for a key that others can compute */
function strong<Key extends object>(key: Key): Key {
  const bits: unknown = 'algorithm' in key ? Object(key.algorithm).modulusLength : undefined;
  if (typeof bits === 'number' && bits < leastRsaBits)
    throw invalidToken('the token is signed with a key that is too weak');
  return key;
}

async function locateKeys(
  { issuer, jwksUri }: IssuerPolicy,
  get: (address: URL) => Promise<OutboundAnswer>,
): Promise<URL> {
  if (jwksUri !== undefined) return new URL(jwksUri);
  const { status, body } = await get(new URL(`${issuer}/.well-known/openid-configuration`));
  const metadata: unknown = status === 200 ? JSON.parse(body.toString()) : undefined;
  if (typeof metadata !== 'object' || metadata === null)
    throw new Error('The discovery document could not be fetched');
  const { issuer: statedIssuer, jwks_uri: stated } = metadata as { issuer?: unknown; jwks_uri?: unknown };
  // OpenID Connect Discovery 1.0 section 4.3
  if (statedIssuer !== issuer || typeof stated !== 'string')
    throw new Error('The discovery document belongs to another issuer');
  const address = new URL(stated);
  // An external document must not choose where this service sends requests.
  if (address.origin !== new URL(issuer).origin)
    throw new Error("The keys are not on the issuer's origin. Register their address as jwksUri");
  return address;
}
