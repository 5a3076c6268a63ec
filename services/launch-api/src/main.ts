import { readTogether } from '@clinical-launch/service';
import {
  openRevocationsPart,
  openSealers,
  openTicketParts,
  requireParts,
  runProcess,
} from '@clinical-launch/service/process';
import {
  openDirectories,
  openTokenVerifier,
  readDirectories,
  readTrust,
} from '@clinical-launch/service/trust';
import { launchApi, readLaunchApiConfig } from './index.ts';

await runProcess({
  name: 'launch-api',
  configure: (environment) =>
    readTogether({
      launchApi: () => readLaunchApiConfig(environment),
      trust: () => readTrust(environment),
      sharedDirectory: () => readDirectories(environment),
      sealers: () => openSealers(environment, ['launch']),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ launchApi: config, trust, sealers, sharedDirectory: sharedFile }, tools) {
    const ticketParts = tools.own(await openTicketParts({ ...tools, sealers, requiresCompleteClaims: true }));
    const { tickets, refusals, limiter } = ticketParts;
    const { revocations } = tools.own(await openRevocationsPart(ticketParts, tools));
    const { registryFile } = trust;
    const directories = openDirectories({ sharedFile, registryFile, logger: tools.logger });
    tools.own({ checks: {}, stop: async () => directories.stop() });
    const { tokens } = tools.own(
      openTokenVerifier(trust, {
        ...tools,
        revocations,
        checkRegistry: (registry) => directories.follow(registry),
      }),
    );
    const service = launchApi(config, { ...tools, tickets, limiter, tokens, directories });
    return { mounts: [{ path: '/', service }], refusals };
  },
});
