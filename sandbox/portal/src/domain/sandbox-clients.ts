import type { LaunchPolicy, RegisteredClient, Registry } from '@clinical-launch/contracts/registry';

/** A client that may use the portal. */
export type SandboxClient = {
  readonly clientId: string;
  /** The realm that issues the tokens of the client. Absent for a client of another issuer. */
  readonly realm?: string;
  readonly policy: LaunchPolicy &
    Partial<Pick<RegisteredClient, 'secrets' | 'jwks' | 'jwksUri' | 'tlsClientCertificateThumbprints'>>;
};

/** Returns the credentials with which a client of a realm can authenticate at a time in milliseconds. */
export function credentialsOf({ policy }: SandboxClient, now: number): readonly string[] {
  const { secrets = [], jwks, jwksUri, tlsClientCertificateThumbprints: certificates = [] } = policy;
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  const all = [...live, ...(jwks?.keys ?? []), jwksUri ?? [], ...certificates];
  return all.flat().map((one) => JSON.stringify(one));
}

/**
 * Returns the sandbox clients of a registry by client id. Omits a client id that two issuers use, because the
 * portal stores the data of a client under its client id alone.
 */
export function sandboxClientsOf({
  realms,
  trustedIssuers = [],
}: Registry): ReadonlyMap<string, SandboxClient> {
  const every = [
    ...realms.flatMap(({ realm, clients }) =>
      clients.map((policy) => ({ realm, policy, clientId: policy.clientId })),
    ),
    ...trustedIssuers.flatMap(({ clients }) =>
      clients.map((policy) => ({ policy, clientId: policy.clientId })),
    ),
  ];
  const isUnique = (id: string) => every.filter(({ clientId }) => clientId === id).length === 1;
  return new Map(
    every
      .filter(({ clientId, policy }) => policy.sandbox === true && isUnique(clientId))
      .map((client) => [client.clientId, client] as const),
  );
}
