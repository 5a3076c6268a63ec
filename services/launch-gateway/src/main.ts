import { requireParts } from '@clinical-launch/process/parts';
import { runProcess } from '@clinical-launch/process/process';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { readTogether } from '@clinical-launch/runtime/environment';
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
