import type { RegisteredClient, RegisteredPartner, Registry } from '@clinical-launch/contracts';
import { ConfigurationError } from '@clinical-launch/service';
import { hashClientSecret } from './client-secrets.ts';
import { partnerAddressFault } from './partner-address.ts';

/** The clients of the demo registry. The secret of each is its id with `-secret`: known to everyone. */
const demoClients = [
  'pms-demo',
  'pms-other',
  'pms-noscope',
  'pms-limited',
  'host-demo',
  'audit-demo',
  'partner-demo',
  'partner-standard',
  'partner-native',
];
const demoClientIds = new Set(demoClients);
const demoSecretHashes = new Set(demoClients.map((clientId) => hashClientSecret(`${clientId}-secret`)));

/** What keeps a registry from being used in production, by its path: what everyone knows, and addresses in the clear. */
export function productionRegistryProblems({ realms }: Registry): string[] {
  return realms.flatMap(({ clients, desktop }, realm) => [
    ...clients.flatMap((client, index) => clientProblems(client, `realms[${realm}].clients[${index}]`)),
    ...(desktop?.partners ?? []).flatMap((partner, index) =>
      partnerProblems(partner, `realms[${realm}].desktop.partners[${index}]`),
    ),
  ]);
}

function clientProblems({ clientId, secrets }: RegisteredClient, path: string): string[] {
  return [
    ...idProblems(clientId, path),
    ...secrets.flatMap(({ sha256 }, secret) =>
      demoSecretHashes.has(sha256) ? [`${path}.secrets[${secret}] is a secret of the demo`] : [],
    ),
  ];
}

function partnerProblems({ clientId, redirectUris, launchUrl }: RegisteredPartner, path: string): string[] {
  const addresses = [
    ...redirectUris.map((address, index) => [`${path}.redirectUris[${index}]`, address] as const),
    [`${path}.launchUrl`, launchUrl] as const,
  ];
  return [
    ...idProblems(clientId, path),
    ...addresses.flatMap(([place, address]) => {
      const fault = partnerAddressFault(address);
      return fault === undefined ? [] : [`${place} ${fault}`];
    }),
  ];
}

function idProblems(clientId: string, path: string): string[] {
  return demoClientIds.has(clientId) ? [`${path}.clientId is a client of the demo`] : [];
}

/**
 * Checks that nothing of the demo registry and no address in the clear is in a registry for production.
 * @throws TypeError that names every problem at once.
 */
export function assertProductionRegistry(registry: Registry): void {
  const problems = productionRegistryProblems(registry);
  if (problems.length > 0) throw new ConfigurationError(problems);
}
