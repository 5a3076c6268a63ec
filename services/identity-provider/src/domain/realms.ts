import type { Realm, RegisteredClient, Registry } from '@clinical-launch/contracts';
import { issuerOf } from '@clinical-launch/service';

export type SigningAlgorithm = NonNullable<Realm['signingAlgorithm']>;

/** A realm as its endpoints see it: the registry's settings with their defaults. */
export type IssuingRealm = {
  /** As the registry writes it, and so the issuer. */
  readonly name: string;
  readonly issuer: string;
  readonly signingAlgorithm: SigningAlgorithm;
  readonly accessTokenSeconds: number;
  readonly clients: ReadonlyMap<string, RegisteredClient>;
};

export type Realms = ReadonlyMap<string, IssuingRealm>;

/** The realms of a registry, by name. */
export function createRealms({ realms }: Registry, publicUrl: string): Realms {
  return new Map(
    realms.map(({ realm, signingAlgorithm = 'RS256', accessTokenSeconds = 3600, clients }) => [
      realm,
      {
        name: realm,
        issuer: issuerOf(publicUrl, realm),
        signingAlgorithm,
        accessTokenSeconds,
        clients: new Map(clients.map((client) => [client.clientId, client])),
      },
    ]),
  );
}

/**
 * The realm that a path names. Segments are compared without regard to case, and a leading `tfp` counts for
 * nothing: clients lower-case and prefix the authority that they were given.
 */
export function findRealm(realms: Realms, segments: readonly string[]): IssuingRealm | undefined {
  const [first, ...rest] = segments.map((segment) => segment.toLowerCase());
  if (first === undefined) return undefined;
  return realms.get([first, ...rest].join('/')) ?? (first === 'tfp' ? realms.get(rest.join('/')) : undefined);
}
