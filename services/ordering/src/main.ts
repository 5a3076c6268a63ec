import { readTogether } from '@clinical-launch/service';
import {
  openBusPart,
  openSealer,
  openStoragePart,
  openTicketParts,
  requireParts,
} from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { ordering, readOrderingConfig } from './index.ts';

await runProcess({
  name: 'ordering',
  configure: (environment) =>
    readTogether({
      ordering: () => readOrderingConfig(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ ordering: config, sealer }, tools) {
    const { tickets } = tools.own(await openTicketParts({ ...tools, sealer }));
    const { storage } = tools.own(await openStoragePart(tools));
    const { bus } = tools.own(await openBusPart(tools));
    return {
      mounts: [{ path: '/', service: ordering(config, { ...tools, tickets, storage, bus, sealer }) }],
      bus,
    };
  },
});
