import {
  createAccessTokenVerifier,
  desktopIssuerPolicies,
  followRegistry,
  readTogether,
  readTrust,
  watchRegistryFile,
} from '@clinical-launch/service';
import { openSealer, openTicketParts, requireParts } from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { readResourceApiConfig, resourceApi } from './index.ts';

await runProcess({
  name: 'resource-api',
  configure: (environment) =>
    readTogether({
      resourceApi: () => readResourceApiConfig(environment),
      trust: () => readTrust(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ resourceApi: config, trust, sealer }, tools) {
    const { logger, clock } = tools;
    // A partner application is onboarded while this runs, and its tokens are to be accepted from then on.
    const registry = watchRegistryFile(trust.registryFile, {
      publicUrl: trust.options.publicUrl,
      onChange: () => logger.info('the changed registry is in use'),
      onFault: (error) =>
        logger.error({ err: error }, 'the changed registry cannot be used; the one before it goes on'),
    });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const verifier = followRegistry(registry, (current) =>
      createAccessTokenVerifier({ issuers: desktopIssuerPolicies(current, trust.options), clock }),
    );
    const { tickets, outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    const service = resourceApi(config, {
      ...tools,
      tokens: { verify: (authorization) => verifier().verify(authorization) },
      tickets,
      sealer,
      events: outbox,
    });
    return { mounts: [{ path: '/', service }] };
  },
});
