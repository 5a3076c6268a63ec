import { readTogether } from '@clinical-launch/service';
import { openSealer, openTicketParts, requireParts } from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { launchGateway, readLaunchGatewayConfig } from './index.ts';

await runProcess({
  name: 'launch-gateway',
  configure: (environment) =>
    readTogether({
      launchGateway: () => readLaunchGatewayConfig(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ launchGateway: config, sealer }, tools) {
    const { tickets, outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    return { mounts: [{ path: '/', service: launchGateway(config, { tickets, events: outbox }) }] };
  },
});
