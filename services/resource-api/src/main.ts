import type { Registry } from '@clinical-launch/contracts';
import {
  createFollowingVerifier,
  desktopIssuerPolicies,
  readTogether,
  readTrust,
  watchRegistry,
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
    const registry = watchRegistry(trust.registryFile, { publicUrl: trust.options.publicUrl, logger });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const policiesOf = (current: Registry) => desktopIssuerPolicies(current, trust.options);
    const { tickets, outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    const service = resourceApi(config, {
      ...tools,
      tokens: createFollowingVerifier(registry, { clock, policiesOf }),
      tickets,
      sealer,
      events: outbox,
    });
    return { mounts: [{ path: '/', service }] };
  },
});
