import type { Registry } from '@clinical-launch/contracts';
import { ConfigurationError } from '@clinical-launch/service';
import { hashClientSecret } from './client-secrets.ts';

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

/** What keeps a registry from being used in production: each demo client and each demo secret, by its path. */
export function productionRegistryProblems({ realms }: Registry): string[] {
  return realms.flatMap(({ clients }, realm) =>
    clients.flatMap(({ clientId, secrets }, client) => {
      const path = `realms[${realm}].clients[${client}]`;
      return [
        ...(demoClientIds.has(clientId) ? [`${path}.clientId is a client of the demo`] : []),
        ...secrets.flatMap(({ sha256 }, secret) =>
          demoSecretHashes.has(sha256) ? [`${path}.secrets[${secret}] is a secret of the demo`] : [],
        ),
      ];
    }),
  );
}

/**
 * Checks that nothing of the demo registry is in a registry for production.
 * @throws TypeError that names every problem at once.
 */
export function assertProductionRegistry(registry: Registry): void {
  const problems = productionRegistryProblems(registry);
  if (problems.length > 0) throw new ConfigurationError(problems);
}
