import { readTogether } from '@clinical-launch/service/environment';
import { openBusPart, openStoragePart, requireParts } from '@clinical-launch/service/process/parts';
import { runProcess } from '@clinical-launch/service/process/process';
import { openSealers } from '@clinical-launch/service/process/sealing-keys';
import { openTicketParts } from '@clinical-launch/service/process/ticket-parts';
import { watchRegistry } from '@clinical-launch/service/trust/following-registry';
import { readOrderRendererConfig, readRegistrySetting } from './config.ts';
import { orderRenderer } from './service.ts';

await runProcess({
  name: 'order-renderer',
  configure: (environment) =>
    readTogether({
      orderRenderer: () => readOrderRendererConfig(environment),
      registryFile: () => readRegistrySetting(environment),
      sealers: () => openSealers(environment, ['launch', 'order', 'callback']),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ orderRenderer: config, registryFile, sealers }, tools) {
    const { logger } = tools;
    // A change of a registered callback applies from the next attempt.
    const { callbacks, isProduction } = config;
    const registry = watchRegistry(registryFile, { publicUrl: callbacks.publicUrl, logger, isProduction });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const { tickets, refusals } = tools.own(await openTicketParts({ ...tools, sealers }));
    const { storage } = tools.own(await openStoragePart(tools));
    const { bus } = tools.own(await openBusPart(tools));
    const service = await orderRenderer(config, { ...tools, registry, tickets, storage, bus, sealers });
    return { mounts: [{ path: '/', service }], bus, refusals };
  },
});
