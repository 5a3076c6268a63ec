import { readTogether } from '@clinical-launch/service';
import { openSealers, openTicketParts, requireParts, runProcess } from '@clinical-launch/service/process';
import { launchGateway, readLaunchGatewayConfig } from './index.ts';

await runProcess({
  name: 'launch-gateway',
  configure: (environment) =>
    readTogether({
      launchGateway: () => readLaunchGatewayConfig(environment),
      sealers: () => openSealers(environment, ['launch']),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ launchGateway: config, sealers }, tools) {
    const { tickets, refusals } = tools.own(await openTicketParts({ ...tools, sealers }));
    return { mounts: [{ path: '/', service: launchGateway(config, { ...tools, tickets }) }], refusals };
  },
});
