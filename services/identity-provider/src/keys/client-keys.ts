import type { RegisteredClient, RegisteredPartner, Registry } from '@clinical-launch/contracts/registry';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { createPublishedKeys, jsonOf, keepKeys } from '@clinical-launch/trust/published-keys';
import { followRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import { registeredKeys, type VerificationKeys } from '@clinical-launch/trust/verification-keys';

/** The owner of registered keys: a client, or a partner application, of one realm. */
export type KeyOwner = {
  readonly realm: string;
  readonly kind: 'client' | 'partner';
  readonly clientId: string;
};

/** Returns the registered verification keys of a client or partner, or undefined if it has none. */
export type FindClientKeys = (owner: KeyOwner) => VerificationKeys | undefined;

type Options = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetchOutbound: OutboundFetch;
};

/**
 * Creates the function that finds registered keys. It follows changes of the registry, so that a removed key
 * is no longer accepted.
 */
export function createClientKeys(source: RegistrySource, options: Options): FindClientKeys {
  const known = new Map<string, VerificationKeys>();
  const keys = followRegistry(source, (registry) => keysByOwner(registry, options, known));
  return (owner) => keys().get(keysNameOf(owner));
}

const keysNameOf = ({ realm, kind, clientId }: KeyOwner) => `${kind} ${realm} ${clientId}`;

function keysByOwner(
  { realms }: Registry,
  options: Options,
  known: Map<string, VerificationKeys>,
): ReadonlyMap<string, VerificationKeys> {
  const entryOf = (
    place: Pick<KeyOwner, 'realm' | 'kind'>,
    { clientId, jwks, jwksUri }: RegisteredClient | RegisteredPartner,
  ): (readonly [string, VerificationKeys])[] => {
    const name = keysNameOf({ ...place, clientId });
    if (jwks !== undefined) return [[name, registeredKeys(jwks)]];
    if (jwksUri === undefined) return [];
    const owner = `${place.realm} ${clientId}`;
    return [
      [name, keepKeys(known, `${name} ${jwksUri}`, () => publishedKeys(owner, new URL(jwksUri), options))],
    ];
  };
  return new Map(
    realms.flatMap(({ realm, clients, desktop }) => [
      ...clients.flatMap((client) => entryOf({ realm, kind: 'client' }, client)),
      ...(desktop?.partners ?? []).flatMap((partner) => entryOf({ realm, kind: 'partner' }, partner)),
    ]),
  );
}

const publishedKeys = (owner: string, jwksUri: URL, { clock, logger, fetchOutbound }: Options) =>
  createPublishedKeys({
    owner,
    clock,
    logger,
    failure: "The client's keys could not be fetched from its jwksUri",
    fetchKeys: async () => jsonOf(await fetchOutbound(jwksUri)),
  });
