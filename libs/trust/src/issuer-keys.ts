import { minRsaBits } from '@clinical-launch/contracts/client-authentication';
import { ServiceError, temporarilyUnavailable } from '@clinical-launch/http/errors';
import { asResponse, type OutboundAnswer, type OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import { meter } from '@clinical-launch/runtime/metrics';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { invalidToken } from './invalid-token.ts';
import type { IssuerPolicy } from './issuer-policies.ts';

/** The milliseconds for which fetched keys are cached. */
const cachedForMs = 10 * 60_000;

type Options = { readonly clock: Clock; readonly fetchOutbound: OutboundFetch };

/**
 * Creates the function that returns the issuer's key for a token. It fetches the issuer's keys when they are
 * first needed, and again when they are used after `cachedForMs`.
 * @throws ServiceError 503 if the keys cannot be fetched, and 401 if the key is too weak
 */
export function createIssuerKeys(policy: IssuerPolicy, { clock, fetchOutbound }: Options): JWTVerifyGetKey {
  const get = countingFetches(policy.issuer, (address) =>
    fetchOutbound(address, { isOperators: policy.isConfigured }),
  );
  let remote: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const find = () => {
    remote ??= locateKeys(policy, get).then((address) =>
      createRemoteJWKSet(address, {
        cacheMaxAge: Number.POSITIVE_INFINITY,
        [customFetch]: async (url) => asResponse(await get(new URL(url))),
      }),
    );
    // Does not cache a failed look-up.
    remote.catch(() => {
      remote = undefined;
    });
    return remote;
  };
  return async (header, token) => {
    try {
      const keys = await find();
      // Checks the age of the keys with `clock`, because the cache of jose would use the machine's clock.
      if (clock.now() - fetchedAt >= cachedForMs) {
        await keys.reload();
        fetchedAt = clock.now();
      }
      return strong(await keys(header, token));
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

type Get = (address: URL) => Promise<OutboundAnswer>;

/**
 * Counts the requests for the keys of an issuer, and for the document that locates them, by their outcome.
 */
function countingFetches(issuer: string, get: Get): Get {
  const count = meter().createCounter('clinical_launch.issuer_keys.fetches', {
    description: 'Requests for the signing keys of an issuer, by their outcome',
    unit: '{request}',
  });
  const add = (outcome: 'ok' | 'failed', by: number) =>
    count.add(by, { 'clinical_launch.issuer': issuer, 'clinical_launch.outcome': outcome });
  // Starts at 0, because Prometheus sees no increase in a series whose first value is already 1.
  add('ok', 0);
  add('failed', 0);
  return async (address) => {
    let outcome: 'ok' | 'failed' = 'failed';
    try {
      const answer = await get(address);
      if (answer.status === 200) outcome = 'ok';
      return answer;
    } finally {
      add(outcome, 1);
    }
  };
}

/**
 * Returns the key if it is strong enough. For a weak key, jose itself would throw a TypeError, as for a
 * programming error. @throws ServiceError 401 for a weak key
 */
function strong<Key extends object>(key: Key): Key {
  const bits: unknown = 'algorithm' in key ? Object(key.algorithm).modulusLength : undefined;
  if (typeof bits === 'number' && bits < minRsaBits)
    throw invalidToken('the token is signed with a key that is too weak');
  return key;
}

async function locateKeys({ issuer, jwksUri }: IssuerPolicy, get: Get): Promise<URL> {
  if (jwksUri !== undefined) return new URL(jwksUri);
  const { status, body } = await get(new URL(`${issuer}/.well-known/openid-configuration`));
  const metadata: unknown = status === 200 ? JSON.parse(body.toString()) : undefined;
  if (typeof metadata !== 'object' || metadata === null)
    throw new Error('The discovery document could not be fetched');
  const { issuer: statedIssuer, jwks_uri: stated } = metadata as { issuer?: unknown; jwks_uri?: unknown };
  // The issuer in the document must be the expected issuer (OpenID Connect Discovery 1.0 section 4.3).
  if (statedIssuer !== issuer || typeof stated !== 'string')
    throw new Error('The discovery document belongs to another issuer');
  const address = new URL(stated);
  // An external document must not choose where this service sends requests.
  if (address.origin !== new URL(issuer).origin)
    throw new Error("The keys are not on the issuer's origin. Register their address as jwksUri");
  return address;
}
