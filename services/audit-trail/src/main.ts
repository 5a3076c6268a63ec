import { readTogether } from '@clinical-launch/service/environment';
import {
  openBusPart,
  openRevocationsPart,
  openStoragePart,
  requireParts,
} from '@clinical-launch/service/process/parts';
import { runProcess } from '@clinical-launch/service/process/process';
import { openTicketParts } from '@clinical-launch/service/process/ticket-parts';
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
    const ticketParts = tools.own(await openTicketParts(tools));
    const { storage } = tools.own(await openStoragePart(tools));
    const { bus } = tools.own(await openBusPart(tools));
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
