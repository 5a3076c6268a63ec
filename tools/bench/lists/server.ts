import { randomBytes } from 'node:crypto';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { InProcessBus } from '@clinical-launch/events/in-process-bus';
import { createApp } from '@clinical-launch/http/app';
import { listen } from '@clinical-launch/http/server';
import { readCatalogues } from '@clinical-launch/ordering/catalogue-file';
import { ordering } from '@clinical-launch/ordering/service';
import { launchSessionIdleSeconds } from '@clinical-launch/pages/launch-session';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import { systemClock as clock } from '@clinical-launch/runtime/clock';
import { createLogger } from '@clinical-launch/runtime/logger';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { createInMemoryTickets } from '@clinical-launch/tickets/in-memory-tickets';
import { fixedRegistry } from '@clinical-launch/trust/registry-file';

/**
 * Runs the ordering service in a separate process for a benchmark, with the PostgreSQL of `DATABASE_URL`. The
 * parent process asks for launch sessions, as the launch gateway would issue them.
 */
const logger = createLogger({ level: 'error' });
const bus = new InProcessBus({ onDeadLetter: () => undefined });
const { tickets } = createInMemoryTickets({ clock, outbox: bus });
const storage = await openPostgresStorage({ url: process.env.DATABASE_URL ?? '', applicationName: 'bench' });
const sealer = createSealer([{ id: 'bench', key: randomBytes(32) }]);
const registry = fixedRegistry({ realms: [] });
const service = await ordering(
  {
    publicUrl: 'https://launch.example.org',
    catalogues: readCatalogues(),
    timeZone: 'Europe/London',
    pseudonyms: readPatientPseudonyms({}),
  },
  { tickets, registry, storage, bus, sealers: { order: sealer }, clock, logger },
);
const app = createApp({ mounts: [{ path: '/', service }], logger, clock, isProduction: false });
const server = await listen(app, { port: 0, host: '127.0.0.1' });

process.on('message', (context: LaunchContext) => {
  void issue(context).then((ticket) => process.send?.(ticket));
});
// Exits when the benchmark exits.
process.on('disconnect', () => process.exit());
process.send?.(`http://127.0.0.1:${server.port}`);

async function issue(context: LaunchContext): Promise<string> {
  const issued = await tickets.issue('launch-session', {
    context,
    ttlSeconds: launchSessionIdleSeconds,
    correlationId: context.launchId,
    events: [],
  });
  if (issued.outcome !== 'issued') throw new Error('No session was issued');
  return issued.ticket;
}
