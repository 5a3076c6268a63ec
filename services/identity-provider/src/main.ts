import type { Registry } from '@clinical-launch/contracts/registry';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { createAttempts } from '@clinical-launch/limits/attempts';
import { createSharedRateLimiter } from '@clinical-launch/limits/shared-rate-limit';
import { requireParts } from '@clinical-launch/process/parts';
import { openPostgres } from '@clinical-launch/process/postgres-part';
import { runProcess } from '@clinical-launch/process/process';
import { openRabbitMq } from '@clinical-launch/process/rabbitmq-part';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openRedisOutbox } from '@clinical-launch/process/redis-relays';
import { openRevocationsPart } from '@clinical-launch/process/revocations-part';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { readTogether } from '@clinical-launch/runtime/environment';
import { RedisChains, RedisOnce } from '@clinical-launch/tickets/redis-chains';
import { createFollowingVerifier } from '@clinical-launch/trust/access-tokens';
import { issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { RedisRevokedTokens } from '@clinical-launch/trust/redis-revoked-tokens';
import { watchRegistry } from '@clinical-launch/trust/registry-file';
import { readTrust } from '@clinical-launch/trust/trust';
import { readIdentityProviderConfig } from './config.ts';
import { identityProvider } from './service.ts';

await runProcess({
  name: 'identity-provider',
  configure: (environment) =>
    readTogether({
      identityProvider: () => readIdentityProviderConfig(environment),
      trust: () => readTrust(environment),
      sealers: () => openSealers(environment, ['desktop', 'access-token', 'signing-key']),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
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
    const parts = tools.own(await openRedisParts({ ...tools, sealers }));
    const { location, tickets, limits, refusals } = parts;
    const revokedTokens = new RedisRevokedTokens(location);
    const { revocations } = tools.own(await openRevocationsPart({ revokedTokens }, tools));
    const database = await openPostgres(tools);
    // The database has no readiness check, because the known keys continue to sign for 15 minutes
    // without the database.
    const { storage } = tools.own({ ...database, checks: {} });
    const { bus } = tools.own(await openRabbitMq(tools));
    const service = await identityProvider(config, {
      ...tools,
      registry,
      storage,
      tickets,
      chains: new RedisChains(location),
      once: new RedisOnce(location),
      revokedTokens,
      limiter: createSharedRateLimiter({ ...location, service: tools.name }),
      attempts: createAttempts({ limits, clock, logger }),
      events: openRedisOutbox(parts, tools),
      sealers,
      tokens: createFollowingVerifier(registry, { clock, logger, policiesOf, fetchOutbound, revocations }),
      fetchOutbound,
    });
    return { mounts: [{ path: '/', service }], bus, refusals };
  },
});
