import { openTokenVerifier, readTogether, readTrust } from '@clinical-launch/service';
import { openSealer, openTicketParts, requireParts } from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { launchApi, readLaunchApiConfig } from './index.ts';

await runProcess({
  name: 'launch-api',
  configure: (environment) =>
    readTogether({
      launchApi: () => readLaunchApiConfig(environment),
      trust: () => readTrust(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ launchApi: config, trust, sealer }, tools) {
    const { tickets, outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    const { tokens } = tools.own(openTokenVerifier(trust, tools));
    return {
      mounts: [{ path: '/', service: launchApi(config, { ...tools, tickets, events: outbox, tokens }) }],
    };
  },
});
