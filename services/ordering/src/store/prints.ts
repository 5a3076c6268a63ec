import type { LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { PrintedPaper } from '../domain/printing.ts';
import { jsonb, type OrderingTransaction } from './database.ts';

type Paper = { readonly guid: string; readonly what: PrintedPaper };

/** Serialises prints of a request. A second transaction waits, and then finds the print of the first. */
export async function lockForPrinting(tx: OrderingTransaction, guid: string): Promise<void> {
  await tx
    .selectFrom('test_requests')
    .select('guid')
    .where('guid', '=', guid)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/**
 * Finds the prints of the form or the labels of a request, each with its user and time (ISO 8601), newest
 * first.
 */
export async function findPrints(
  tx: OrderingTransaction,
  { guid, what }: Paper,
): Promise<{ readonly author: LaunchRequest['author']; readonly at: string }[]> {
  const rows = await tx
    .selectFrom('prints')
    .select(['author', 'printed_at'])
    .where('request_guid', '=', guid)
    .where('what', '=', what)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ author, printed_at }) => ({ author, at: printed_at.toISOString() }));
}

/** Stores a print of the form or the labels of a request by a launch. `at` is an ISO 8601 instant. */
export async function insertPrint(
  tx: OrderingTransaction,
  { guid, what }: Paper,
  { context, at }: { readonly context: LaunchContext; readonly at: string },
): Promise<void> {
  await tx
    .insertInto('prints')
    .values({
      request_guid: guid,
      what,
      launch_id: context.launchId,
      author: jsonb(context.request.author),
      printed_at: at,
    })
    .execute();
}
