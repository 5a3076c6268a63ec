import { fileURLToPath } from 'node:url';
import { createTimeWriter } from '@clinical-launch/contracts/time';
import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import type { EventBus } from '@clinical-launch/events/event-bus';
import { startRelay } from '@clinical-launch/events/relay';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import { createPages, serveAssets } from '@clinical-launch/pages/templates';
import { reportRejectedEvents } from '@clinical-launch/process/rejected-events';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { observeOutbox } from '@clinical-launch/runtime/metrics';
import { sqlOutbox } from '@clinical-launch/storage/sql-outbox';
import type { Storage } from '@clinical-launch/storage/storage';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { OrderingConfig } from './config.ts';
import { pageNotFound } from './errors.ts';
import { createSearches } from './http/dependencies.ts';
import { createEndpoints } from './http/endpoints.ts';
import { pageDialect } from './http/error-page.ts';
import { createShow } from './http/show.ts';
import { openOrderingDatabase } from './store/database.ts';

export type OrderingDependencies = {
  readonly tickets: Pick<Tickets, 'find' | 'redeem'>;
  /** The registry, with the earlier codes of the practices. */
  readonly registry: RegistrySource;
  readonly storage: Storage;
  /** The event bus to which the outbox publishes. */
  readonly bus: Pick<EventBus, 'publish'>;
  /** Encrypts the order in the event for the service that renders the order document. */
  readonly sealers: Pick<Sealers, 'order'>;
  readonly clock: Clock;
  readonly logger: Logger;
};

const directory = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Migrates the schema and creates the OLTR web application. The application must be mounted at `/`. It
 * answers below `/oltr` and at `/accessibility`.
 */
export async function ordering(config: OrderingConfig, provided: OrderingDependencies): Promise<Service> {
  const { tickets, registry, storage, bus, sealers, clock, logger } = provided;
  const { catalogues, timeZone, pseudonyms, requestsPerSecondPerSession: perSession } = config;
  const { origin: publicOrigin, protocol } = new URL(config.publicUrl);
  const pages = createPages(directory('views'), config);
  const database = await openOrderingDatabase(storage);
  const outbox = sqlOutbox(database, { onRejected: reportRejectedEvents('ordering', logger) });
  observeOutbox('ordering', () => outbox.level());
  const relay = startRelay({
    source: outbox,
    publish: (events) => bus.publish(events),
    onFailure: (error) => logger.error({ err: error }, 'events wait in the outbox of ordering'),
  });
  const limiter = createRateLimiter(clock);
  const write = createTimeWriter(timeZone);
  const endpoints = createEndpoints({
    tickets,
    registry,
    database,
    sealer: sealers.order,
    pseudonyms,
    clock,
    pages,
    catalogues,
    searchIn: createSearches(catalogues),
    timeZone,
    publicOrigin,
    isSecure: protocol === 'https:',
    countRequest: (launchId) => limiter.count(launchId, perSession),
    show: createShow({ pages, clock, timeZone, write }),
    write,
    nudge: () => relay.nudge(),
  });
  return {
    name: 'ordering',
    endpoints,
    below: [{ path: '/oltr/assets', serve: serveAssets(directory('../public')) }],
    edges: [{ path: '/oltr', dialect: pageDialect(pages), notFound: pageNotFound }],
    stop: () => relay.stop(),
  };
}
