import { openTokenVerifier, readTogether, readTrust } from '@clinical-launch/service';
import {
  openBusPart,
  openSealer,
  openStoragePart,
  openTicketParts,
  requireParts,
} from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { auditTrail } from './index.ts';

await runProcess({
  name: 'audit-trail',
  configure: (environment) =>
    readTogether({
      auditTrail: () => ({ isProduction: environment.NODE_ENV === 'production' }),
      trust: () => readTrust(environment),
      sealer: () => openSealer(environment),
      parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    }),
  async open({ auditTrail: config, trust, sealer }, tools) {
    const ticketParts = tools.own(await openTicketParts({ ...tools, sealer }));
    const { storage } = tools.own(await openStoragePart(tools));
    const { bus } = tools.own(await openBusPart(tools));
    // Here and nowhere else, so that the launch path needs no broker: launches are audited when this process runs.
    ticketParts.startRelay(bus);
    const { tokens } = tools.own(openTokenVerifier(trust, tools));
    const service = auditTrail(config, { storage, tokens, events: ticketParts.outbox });
    return { mounts: [{ path: '/', service }], bus };
  },
});
