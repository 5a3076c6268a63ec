import type { Registry } from '@clinical-launch/contracts';
import {
  createFollowingVerifier,
  issuerPolicies,
  readTogether,
  readTrust,
  watchRegistry,
} from '@clinical-launch/service';
import { openSealer, openStoragePart, openTicketParts, requireParts } from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { assertProductionRegistry, identityProvider, readIdentityProviderConfig } from './index.ts';

await runProcess({
  name: 'identity-provider',
  configure: (environment) =>
    readTogether({
      identityProvider: () => readIdentityProviderConfig(environment),
      trust: () => readTrust(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'DATABASE_URL']),
    }),
  async open({ identityProvider: config, trust, sealer }, tools) {
    const { logger, clock } = tools;
    const registry = watchRegistry(trust.registryFile, {
      publicUrl: trust.options.publicUrl,
      logger,
      ...(config.isProduction ? { check: assertProductionRegistry } : {}),
    });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const policiesOf = (current: Registry) => issuerPolicies(current, trust.options);
    const { tickets, outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    const database = await openStoragePart(tools);
    // Without a readiness check: the keys that are known go on signing for a while when the database is away.
    const { storage } = tools.own({ ...database, checks: {} });
    const service = identityProvider(config, {
      ...tools,
      registry,
      storage,
      tickets,
      events: outbox,
      sealer,
      tokens: createFollowingVerifier(registry, { clock, policiesOf }),
    });
    return { mounts: [{ path: '/', service }] };
  },
});
