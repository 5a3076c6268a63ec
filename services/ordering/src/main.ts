import { requireParts } from '@clinical-launch/process/parts';
import { openPostgres } from '@clinical-launch/process/postgres-part';
import { runProcess } from '@clinical-launch/process/process';
import { openRabbitMq } from '@clinical-launch/process/rabbitmq-part';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { readTogether } from '@clinical-launch/runtime/environment';
import { openRegistry } from '@clinical-launch/trust/registry-file';
import { readRegistrySetting } from '@clinical-launch/trust/trust';
import { readOrderingConfig } from './config.ts';
import { ordering } from './service.ts';

await runProcess({
  name: 'ordering',
  requestsAtOnce: 16,
  configure: (environment) =>
    readTogether({
      ordering: () => readOrderingConfig(environment),
      registry: () => readRegistrySetting(environment),
      sealers: () => openSealers(environment, ['launch', 'order']),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ ordering: config, sealers, registry: location }, tools) {
    const { registry } = tools.own(openRegistry(location, tools));
    const { tickets, refusals } = tools.own(await openRedisParts({ ...tools, sealers }));
    const { storage } = tools.own(await openPostgres(tools));
    const { bus } = tools.own(await openRabbitMq(tools));
    const service = await ordering(config, { ...tools, registry, tickets, storage, bus, sealers });
    return { mounts: [{ path: '/', service }], bus, refusals };
  },
});
