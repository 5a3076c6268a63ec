import { readTogether } from '@clinical-launch/service';
import {
  openBusPart,
  openSealers,
  openStoragePart,
  openTicketParts,
  requireParts,
  runProcess,
} from '@clinical-launch/service/process';
import { ordering, readOrderingConfig } from './index.ts';

await runProcess({
  name: 'ordering',
  configure: (environment) =>
    readTogether({
      ordering: () => readOrderingConfig(environment),
      sealers: () => openSealers(environment, ['launch', 'order']),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ ordering: config, sealers }, tools) {
    const { tickets, refusals } = tools.own(await openTicketParts({ ...tools, sealers }));
    const { storage } = tools.own(await openStoragePart(tools));
    const { bus } = tools.own(await openBusPart(tools));
    return {
      mounts: [{ path: '/', service: await ordering(config, { ...tools, tickets, storage, bus, sealers }) }],
      bus,
      refusals,
    };
  },
});
