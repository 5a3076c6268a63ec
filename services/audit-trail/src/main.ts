import { requireParts } from '@clinical-launch/process/parts';
import { openPostgres } from '@clinical-launch/process/postgres-part';
import { runProcess } from '@clinical-launch/process/process';
import { openRabbitMq } from '@clinical-launch/process/rabbitmq-part';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openRedisOutbox, startRedisRelays } from '@clinical-launch/process/redis-relays';
import { openRevocationsPart } from '@clinical-launch/process/revocations-part';
import { readTogether } from '@clinical-launch/runtime/environment';
import { RedisClaims } from '@clinical-launch/tickets/redis-claims';
import { openTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { RedisRevokedTokens } from '@clinical-launch/trust/redis-revoked-tokens';
import { readTrust } from '@clinical-launch/trust/trust';
import { readAuditTrailConfig } from './config.ts';
import { auditTrail } from './service.ts';

await runProcess({
  name: 'audit-trail',
  requestsAtOnce: 16,
  configure: (environment) =>
    readTogether({
      auditTrail: () => readAuditTrailConfig(environment),
      trust: () => readTrust(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ auditTrail: config, trust }, tools) {
    const parts = tools.own(await openRedisParts(tools));
    const { location, refusals } = parts;
    const { storage } = tools.own(await openPostgres(tools));
    const { bus } = tools.own(await openRabbitMq(tools));
    // Only this process relays the events of launches to the broker, so that the launch path needs no broker.
    tools.own(startRedisRelays(parts, bus, tools));
    const revokedTokens = new RedisRevokedTokens(location);
    const { revocations } = tools.own(await openRevocationsPart({ revokedTokens }, tools));
    const { tokens } = tools.own(openTokenVerifier(trust, { ...tools, revocations }));
    const service = await auditTrail(config, {
      ...tools,
      storage,
      tokens,
      events: openRedisOutbox(parts, tools),
      claims: new RedisClaims(location),
      endedSessions: new RedisRevokedTokens({ ...location, list: 'ended-sessions' }),
    });
    return { mounts: [{ path: '/', service }], bus, refusals };
  },
});
