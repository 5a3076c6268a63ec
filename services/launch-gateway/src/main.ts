import { readTogether } from '@clinical-launch/service/environment';
import { requireParts } from '@clinical-launch/service/process/parts';
import { runProcess } from '@clinical-launch/service/process/process';
import { openSealers } from '@clinical-launch/service/process/sealing-keys';
import { openTicketParts } from '@clinical-launch/service/process/ticket-parts';
import { readLaunchGatewayConfig } from './config.ts';
import { launchGateway } from './service.ts';

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
