import { readTogether, watchRegistry } from '@clinical-launch/service';
import {
  openBusPart,
  openSealer,
  openStoragePart,
  openTicketParts,
  requireParts,
} from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { orderRenderer, readOrderRendererConfig, readRegistrySetting } from './index.ts';

await runProcess({
  name: 'order-renderer',
  configure: (environment) =>
    readTogether({
      orderRenderer: () => readOrderRendererConfig(environment),
      registryFile: () => readRegistrySetting(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ orderRenderer: config, registryFile, sealer }, tools) {
    const { logger } = tools;
    // A callback that is registered, moved or taken out counts at the next attempt.
    const registry = watchRegistry(registryFile, { publicUrl: config.callbacks.publicUrl, logger });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const { tickets } = tools.own(await openTicketParts({ ...tools, sealer }));
    const { storage } = tools.own(await openStoragePart(tools));
    const { bus } = tools.own(await openBusPart(tools));
    const service = orderRenderer(config, { ...tools, registry, tickets, storage, bus, sealer });
    return { mounts: [{ path: '/', service }], bus };
  },
});
