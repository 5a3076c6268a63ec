import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { observeDatabase, observePool } from './part-metrics.ts';
import type { PartOptions, RunningPart } from './parts.ts';

export type StoragePart = RunningPart & { readonly storage: Storage };

/**
 * The milliseconds that a process waits for its schema before it ends. This wait is longer than a database
 * start and an operator's migrations usually take.
 */
const schemaWithinMs = 120_000;

/** Opens the database of `DATABASE_URL`, and observes its metrics. */
export async function openPostgres({
  environment,
  logger,
  name,
}: Omit<PartOptions, 'eventKeys'>): Promise<StoragePart> {
  const storage = await openPostgresStorage({
    url: environment.DATABASE_URL ?? '',
    applicationName: name,
    schemaWait: {
      withinMs: schemaWithinMs,
      onWaiting: (error) => logger.warn({ err: error }, 'waiting for the database and its migrations'),
    },
    onConnectionLost: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  if (storage.load !== undefined) {
    observePool(name, storage.load.pool);
    observeDatabase(storage.load.server);
  }
  return { storage, checks: { database: () => storage.isReady() }, stop: () => storage.close() };
}
