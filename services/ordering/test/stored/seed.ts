import { sql } from 'kysely';
import type { TestRequest } from '../../src/domain/test-request.ts';
import { jsonb, type OrderingDatabase } from '../../src/store/database.ts';
import { newRow } from '../../src/store/test-requests.ts';

/** The time zone of the practices. The day of a request in this zone is one of its search words. */
export const timeZone = 'Europe/London';

/** Returns the row of an invented request. */
export const rowOf = (request: TestRequest) => newRow(request, timeZone);

const batchSize = 250;
const connections = 6;

/**
 * Stores requests in batches, each request with the submission that ordered it. The rows are built by the
 * service's own function.
 */
export async function seedRequests(
  database: OrderingDatabase,
  requests: Iterable<TestRequest>,
): Promise<void> {
  const batches = inBatches(requests);
  const work = async () => {
    for (const batch of batches) await insertBatch(database, batch);
  };
  await Promise.all(Array.from({ length: connections }, work));
}

/**
 * Vacuums and analyses the tables, as autovacuum does within a minute. Then the planner has statistics, and
 * index-only scans read no table pages.
 */
export async function settle(database: OrderingDatabase): Promise<void> {
  await sql`vacuum analyze ordering.test_requests, ordering.submissions`.execute(database);
}

function insertBatch(database: OrderingDatabase, batch: readonly TestRequest[]): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    await transaction.insertInto('test_requests').values(batch.map(rowOf)).execute();
    const submissions = batch.map(({ guid, launchId, parties, createdAt }) => ({
      id: guid,
      request_guid: guid,
      request_version: 1,
      launch_id: launchId,
      action: 'OrderTest' as const,
      author: jsonb(parties.author),
      submitted_at: createdAt,
    }));
    await transaction.insertInto('submissions').values(submissions).execute();
  });
}

function* inBatches(requests: Iterable<TestRequest>): Generator<TestRequest[]> {
  let batch: TestRequest[] = [];
  for (const request of requests) {
    batch.push(request);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
