import {
  createAccessTokenVerifier,
  followRegistry,
  issuerPolicies,
  readTogether,
  readTrust,
  watchRegistryFile,
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
    const registry = watchRegistryFile(trust.registryFile, {
      publicUrl: trust.options.publicUrl,
      ...(config.isProduction ? { check: assertProductionRegistry } : {}),
      onChange: () => logger.info('the changed registry is in use'),
      onFault: (error) =>
        logger.error({ err: error }, 'the changed registry cannot be used; the one before it goes on'),
    });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const verifier = followRegistry(registry, (current) =>
      createAccessTokenVerifier({ issuers: issuerPolicies(current, trust.options), clock }),
    );
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
      tokens: { verify: (authorization) => verifier().verify(authorization) },
    });
    return { mounts: [{ path: '/', service }] };
  },
});
