import type { Action, LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { type Selectable, sql } from 'kysely';
import type { TestRequest } from '../domain/test-request.ts';
import { jsonb, type OrderingDatabase, type OrderingTables, type OrderingTransaction } from './database.ts';

/** One submission in the history of a request: the launch, and the version that it stored. */
export type Submission = {
  readonly requestGuid: string;
  readonly requestVersion: number;
  readonly launchId: string;
  readonly action: Action;
  readonly author: LaunchRequest['author'];
  /** ISO 8601 instant */
  readonly at: string;
  readonly reason?: string;
};

/** Returns whether a launch has already stored this submission. A user can send the same form twice. */
export async function isSubmitted(
  tx: OrderingTransaction,
  { id, guid, launchId }: { readonly id: string; readonly guid: string; readonly launchId: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom('submissions')
    .select('request_version')
    .where('id', '=', id)
    .where('request_guid', '=', guid)
    .where('launch_id', '=', launchId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores the submission of a version of a request. */
export async function insertSubmission(
  tx: OrderingTransaction,
  {
    id,
    request,
    context,
    reason,
  }: { id: string; request: TestRequest; context: LaunchContext; reason?: string },
): Promise<void> {
  await tx
    .insertInto('submissions')
    .values({
      id,
      request_guid: request.guid,
      request_version: request.version,
      launch_id: context.launchId,
      action: context.request.action,
      author: jsonb(context.request.author),
      submitted_at: request.updatedAt,
      reason: reason ?? null,
    })
    .execute();
}

/** Reads the history of a request, oldest first. */
export async function submissionsTo(database: OrderingDatabase, guid: string): Promise<Submission[]> {
  const rows = await database
    .selectFrom('submissions')
    .selectAll()
    .where('request_guid', '=', guid)
    .orderBy('request_version')
    .execute();
  return rows.map(toSubmission);
}

/**
 * Reads the submissions of a launch, newest first. Of several submissions to one request, returns the newest.
 */
export async function submissionsOf(database: OrderingDatabase, launchId: string): Promise<Submission[]> {
  const rows = await database
    .selectFrom('submissions')
    .selectAll()
    .where('launch_id', '=', launchId)
    .orderBy('submitted_at', 'desc')
    .orderBy('request_version', 'desc')
    .execute();
  const newest = new Map(rows.toReversed().map((row) => [row.request_guid, row]));
  return rows.filter((row) => newest.get(row.request_guid) === row).map(toSubmission);
}

function toSubmission(row: Selectable<OrderingTables['submissions']>): Submission {
  return {
    requestGuid: row.request_guid,
    requestVersion: row.request_version,
    launchId: row.launch_id,
    action: row.action,
    author: row.author,
    at: row.submitted_at.toISOString(),
    ...(row.reason === null ? {} : { reason: row.reason }),
  };
}

/** Reserves unused batch numbers. */
export async function takeBatchNumbers(tx: OrderingTransaction, count: number): Promise<number[]> {
  const { rows } = await sql<{ number: string }>`
    select nextval('ordering.batch_numbers') as number from generate_series(1, ${count}::integer)
  `.execute(tx);
  return rows.map(({ number }) => Number(number));
}
