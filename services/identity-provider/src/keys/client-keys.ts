import type { PublicJwk } from '@clinical-launch/contracts/client-authentication';
import type { RegisteredClient, RegisteredPartner, Registry } from '@clinical-launch/contracts/registry';
import { temporarilyUnavailable } from '@clinical-launch/http/errors';
import { asResponse, type OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { followRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';

/** The owner of registered keys: a client, or a partner application, of one realm. */
export type KeyOwner = {
  readonly realm: string;
  readonly kind: 'client' | 'partner';
  readonly clientId: string;
};

/** Returns the registered verification keys of a client or partner, or undefined if it has none. */
export type FindClientKeys = (owner: KeyOwner) => JWTVerifyGetKey | undefined;

/**
 * Creates the function that finds registered keys. It follows changes of the registry, so that a removed key
 * is no longer accepted.
 */
export function createClientKeys(source: RegistrySource, fetchOutbound: OutboundFetch): FindClientKeys {
  const keys = followRegistry(source, (registry) => keysByOwner(registry, fetchOutbound));
  return (owner) => keys().get(keysNameOf(owner));
}

const keysNameOf = ({ realm, kind, clientId }: KeyOwner) => `${kind} ${realm} ${clientId}`;

function keysByOwner(
  { realms }: Registry,
  fetchOutbound: OutboundFetch,
): ReadonlyMap<string, JWTVerifyGetKey> {
  const entryOf = entryBy(fetchOutbound);
  return new Map(
    realms.flatMap(({ realm, clients, desktop }) => [
      ...clients.flatMap((client) => entryOf({ realm, kind: 'client' }, client)),
      ...(desktop?.partners ?? []).flatMap((partner) => entryOf({ realm, kind: 'partner' }, partner)),
    ]),
  );
}

function entryBy(fetchOutbound: OutboundFetch) {
  return (
    place: Pick<KeyOwner, 'realm' | 'kind'>,
    { clientId, jwks, jwksUri }: RegisteredClient | RegisteredPartner,
  ): (readonly [string, JWTVerifyGetKey])[] => {
    const name = keysNameOf({ ...place, clientId });
    if (jwks !== undefined) return [[name, createLocalJWKSet({ keys: jwks.keys.map(withoutEdDsa) })]];
    return jwksUri === undefined ? [] : [[name, publishedKeys(new URL(jwksUri), fetchOutbound)]];
  };
}

/**
 * Returns the published keys of a client. If they cannot be fetched, throws 503, because the assertion may be
 * valid.
 */
function publishedKeys(jwksUri: URL, fetchOutbound: OutboundFetch): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(jwksUri, {
    [customFetch]: async (address) => asResponse(await fetchOutbound(new URL(address))),
  });
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      throw temporarilyUnavailable("The client's keys could not be fetched from its jwksUri", {
        cause: error,
      });
    }
  };
}

/**
 * Removes `alg` from Ed25519 keys. `EdDSA` and `Ed25519` are names of the same algorithm (RFC 9864 section
 * 2.2), and the key's type identifies it.
 */
function withoutEdDsa({ alg, ...key }: PublicJwk): PublicJwk {
  return alg === undefined || key.kty === 'OKP' ? key : { alg, ...key };
}
