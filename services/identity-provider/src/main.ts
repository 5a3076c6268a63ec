import { readTogether, readTrust } from '@clinical-launch/service';
import { openSealer, openStoragePart, openTicketParts, requireParts } from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { identityProvider, readIdentityProviderConfig } from './index.ts';

await runProcess({
  name: 'identity-provider',
  configure: (environment) =>
    readTogether({
      identityProvider: () => readIdentityProviderConfig(environment),
      trust: () => readTrust(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'DATABASE_URL']),
    }),
  async open({ identityProvider: config, trust: { registry }, sealer }, tools) {
    const { outbox } = tools.own(await openTicketParts({ ...tools, sealer }));
    const database = await openStoragePart(tools);
    // Without a readiness check: the keys that are known go on signing for a while when the database is away.
    const { storage } = tools.own({ ...database, checks: {} });
    const service = identityProvider(config, { ...tools, registry, storage, events: outbox, sealer });
    return { mounts: [{ path: '/', service }] };
  },
});
