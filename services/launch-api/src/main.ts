import { openTokenVerifier, readTogether, readTrust } from '@clinical-launch/service';
import {
  openRevocationsPart,
  openSealers,
  openTicketParts,
  requireParts,
} from '@clinical-launch/service/parts';
import { runProcess } from '@clinical-launch/service/process';
import { launchApi, readLaunchApiConfig } from './index.ts';

await runProcess({
  name: 'launch-api',
  configure: (environment) =>
    readTogether({
      launchApi: () => readLaunchApiConfig(environment),
      trust: () => readTrust(environment),
      sealers: () => openSealers(environment, ['launch']),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ launchApi: config, trust, sealers }, tools) {
    const ticketParts = tools.own(await openTicketParts({ ...tools, sealers, requiresCompleteClaims: true }));
    const { tickets, refusals, limiter } = ticketParts;
    const { revocations } = tools.own(await openRevocationsPart(ticketParts, tools));
    const { tokens } = tools.own(openTokenVerifier(trust, { ...tools, revocations }));
    const service = launchApi(config, { ...tools, tickets, limiter, tokens });
    return { mounts: [{ path: '/', service }], refusals };
  },
});
