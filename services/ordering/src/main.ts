import { readTogether } from '@clinical-launch/service/environment';
import { openBusPart, openStoragePart, requireParts } from '@clinical-launch/service/process/parts';
import { runProcess } from '@clinical-launch/service/process/process';
import { openSealers } from '@clinical-launch/service/process/sealing-keys';
import { openTicketParts } from '@clinical-launch/service/process/ticket-parts';
import { readOrderingConfig } from './config.ts';
import { ordering } from './service.ts';

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
