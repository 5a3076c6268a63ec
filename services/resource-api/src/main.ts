import { readTogether } from '@clinical-launch/service';
import { openSealers, openTicketParts, requireParts, runProcess } from '@clinical-launch/service/process';
import { desktopIssuerPolicies, openTokenVerifier, readTrust } from '@clinical-launch/service/trust';
import { readResourceApiConfig, resourceApi } from './index.ts';

await runProcess({
  name: 'resource-api',
  configure: (environment) =>
    readTogether({
      resourceApi: () => readResourceApiConfig(environment),
      trust: () => readTrust(environment),
      sealers: () => openSealers(environment, ['access-token']),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ resourceApi: config, trust, sealers }, tools) {
    const { tokens } = tools.own(
      openTokenVerifier(trust, {
        ...tools,
        policiesOf: desktopIssuerPolicies,
        // Tokens of a desktop launch are revoked with their launch, which the service looks up in the
        // tickets.
        revocations: undefined,
      }),
    );
    const { tickets, refusals, limiter } = tools.own(await openTicketParts(tools));
    const service = resourceApi(config, { ...tools, tokens, tickets, limiter, sealers });
    return { mounts: [{ path: '/', service }], refusals };
  },
});
