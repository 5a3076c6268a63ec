import { readTogether } from '@clinical-launch/service/environment';
import { runProcess } from '@clinical-launch/service/process/process';
import { openRedisParts } from '@clinical-launch/service/process/redis-parts';
import { requireParts } from '@clinical-launch/service/process/required-parts';
import { openSealers } from '@clinical-launch/service/process/sealing-keys';
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
    const { tickets, refusals } = tools.own(await openRedisParts({ ...tools, sealers }));
    return { mounts: [{ path: '/', service: launchGateway(config, { ...tools, tickets }) }], refusals };
  },
});
