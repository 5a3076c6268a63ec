import type { Registry } from '@clinical-launch/contracts';
import { isProduction, readTogether } from '@clinical-launch/service';
import { createOutboundFetch } from '@clinical-launch/service/http';
import {
  openBusPart,
  openRevocationsPart,
  openSealers,
  openStoragePart,
  openTicketParts,
  requireParts,
  runProcess,
} from '@clinical-launch/service/process';
import {
  createFollowingVerifier,
  issuerPolicies,
  readTrust,
  watchRegistry,
} from '@clinical-launch/service/trust';
import { identityProvider, readIdentityProviderConfig } from './index.ts';

await runProcess({
  name: 'identity-provider',
  configure: (environment) =>
    readTogether({
      identityProvider: () => readIdentityProviderConfig(environment),
      trust: () => readTrust(environment),
      sealers: () => openSealers(environment, ['desktop', 'access-token', 'signing-key']),
      // Without RabbitMQ, no partner is notified of revoked launches; everything else works. Enough outside
      // production.
      parts: () =>
        requireParts(environment, [
          'REDIS_URL',
          'DATABASE_URL',
          ...(isProduction(environment) ? (['AMQP_URL'] as const) : []),
        ]),
    }),
  async open({ identityProvider: config, trust, sealers }, tools) {
    const { logger, clock } = tools;
    const registry = watchRegistry(trust.registryFile, {
      publicUrl: trust.options.publicUrl,
      logger,
      isProduction: config.isProduction,
    });
    tools.own({ checks: {}, stop: async () => registry.stop() });
    const policiesOf = (current: Registry) => issuerPolicies(current, trust.options);
    const fetchOutbound = createOutboundFetch({ allowedNetworks: trust.allowedNetworks });
    const ticketParts = tools.own(await openTicketParts({ ...tools, sealers }));
    const { tickets, outbox, revokedTokens, refusals, limiter, attempts } = ticketParts;
    const { revocations } = tools.own(await openRevocationsPart(ticketParts, tools));
    const database = await openStoragePart(tools);
    // No readiness check: if the database is down, the known keys continue to sign for a while.
    const { storage } = tools.own({ ...database, checks: {} });
    const { bus } = tools.own(await openBusPart(tools));
    const service = await identityProvider(config, {
      ...tools,
      registry,
      storage,
      tickets,
      revokedTokens,
      limiter,
      attempts,
      events: outbox,
      sealers,
      tokens: createFollowingVerifier(registry, { clock, policiesOf, fetchOutbound, revocations }),
      fetchOutbound,
    });
    return { mounts: [{ path: '/', service }], bus, refusals };
  },
});
