import { desktopIssuerPolicies, openTokenVerifier, readTogether, readTrust } from '@clinical-launch/service';
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
    const { tokens } = tools.own(openTokenVerifier(trust, { ...tools, policiesOf: desktopIssuerPolicies }));
    const { tickets, outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    const service = resourceApi(config, { ...tools, tokens, tickets, sealer, events: outbox });
    return { mounts: [{ path: '/', service }] };
  },
});
