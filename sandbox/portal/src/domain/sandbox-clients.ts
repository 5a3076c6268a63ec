import type { LaunchPolicy, RegisteredClient, Registry } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { hasDemoSecret } from '@clinical-launch/trust/production-registry';

/** A client whose exchanges its developers may see. */
export type SandboxClient = {
  readonly clientId: string;
  readonly protocol: 'pms' | 'partner';
  /** The realm that issues the tokens of the client. Absent for a client of another issuer. */
  readonly realm?: string;
  readonly policy: LaunchPolicy &
    Partial<Pick<RegisteredClient, 'secrets' | 'jwks' | 'jwksUri' | 'tlsClientCertificateThumbprints'>> & {
      readonly backchannelLogoutUri?: string;
    };
};

/** Returns whether the secrets of a client are public, because it is a client of the demo or of a twin. */
export const isDemoClient = ({ clientId, policy: { secrets = [] } }: SandboxClient): boolean =>
  hasDemoSecret({ clientId, secrets });

/** Returns the credentials with which a client of a realm can authenticate at a time in milliseconds. */
export function credentialsOf({ policy }: SandboxClient, now: number): readonly string[] {
  const { secrets = [], jwks, jwksUri, tlsClientCertificateThumbprints: certificates = [] } = policy;
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  const all = [...live, ...(jwks?.keys ?? []), jwksUri ?? [], ...certificates];
  return all.flat().map((one) => JSON.stringify(one));
}

/**
 * Returns the clients and partners of a registry by client id. Omits a client id that two issuers use, because
 * the data of a client is stored under its client id alone.
 */
export function clientsOf({ realms, trustedIssuers = [] }: Registry): ReadonlyMap<string, SandboxClient> {
  const every: readonly SandboxClient[] = [
    ...realms.flatMap(({ realm, clients, desktop }) => [
      ...clients.map((policy) => ({ realm, policy, clientId: policy.clientId, protocol: 'pms' as const })),
      ...(desktop?.partners ?? []).map(({ clientId, backchannelLogoutUri }) => {
        const policy = withoutUndefined({ backchannelLogoutUri });
        return { realm, policy, clientId, protocol: 'partner' as const };
      }),
    ]),
    ...trustedIssuers.flatMap(({ clients }) =>
      clients.map((policy) => ({ policy, clientId: policy.clientId, protocol: 'pms' as const })),
    ),
  ];
  const isUnique = (id: string) => every.filter(({ clientId }) => clientId === id).length === 1;
  return new Map(
    every.filter(({ clientId }) => isUnique(clientId)).map((client) => [client.clientId, client] as const),
  );
}

/** Returns the sandbox clients of a registry by client id. They may use the portal. */
export const sandboxClientsOf = (registry: Registry): ReadonlyMap<string, SandboxClient> =>
  new Map([...clientsOf(registry)].filter(([, { policy }]) => policy.sandbox === true));
