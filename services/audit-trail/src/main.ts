import { readTogether } from '@clinical-launch/service/environment';
import { openPostgres } from '@clinical-launch/service/process/postgres-part';
import { runProcess } from '@clinical-launch/service/process/process';
import { openRabbitMq } from '@clinical-launch/service/process/rabbitmq-part';
import { openRedisParts } from '@clinical-launch/service/process/redis-parts';
import { requireParts } from '@clinical-launch/service/process/required-parts';
import { openRevocationsPart } from '@clinical-launch/service/process/revocations';
import { openTokenVerifier } from '@clinical-launch/service/trust/following-registry';
import { readTrust } from '@clinical-launch/service/trust/trust';
import { readAuditTrailConfig } from './config.ts';
import { auditTrail } from './service.ts';

await runProcess({
  name: 'audit-trail',
  configure: (environment) =>
    readTogether({
      auditTrail: () => readAuditTrailConfig(environment),
      trust: () => readTrust(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ auditTrail: config, trust }, tools) {
    const ticketParts = tools.own(await openRedisParts(tools));
    const { storage } = tools.own(await openPostgres(tools));
    const { bus } = tools.own(await openRabbitMq(tools));
    // Only here, so that the launch path needs no broker: launches are audited when this process runs.
    ticketParts.startRelay(bus);
    const { revocations } = tools.own(await openRevocationsPart(ticketParts, tools));
    const { tokens } = tools.own(openTokenVerifier(trust, { ...tools, revocations }));
    const service = await auditTrail(config, {
      ...tools,
      storage,
      tokens,
      events: ticketParts.outbox,
      claims: ticketParts.claims,
      endedSessions: ticketParts.endedSessions,
    });
    return { mounts: [{ path: '/', service }], bus, refusals: ticketParts.refusals };
  },
});
