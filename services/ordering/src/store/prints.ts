import type { LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { PrintedPaper } from '../domain/printing.ts';
import { jsonb, type OrderingDatabase, type OrderingTransaction } from './database.ts';

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

type Birth = { readonly guid: string; readonly birthDate: string };

/** Returns whether a user has confirmed that a request is for the patient with this date of birth. */
export async function isConfirmed(database: OrderingDatabase, { guid, birthDate }: Birth): Promise<boolean> {
  const row = await database
    .selectFrom('confirmed_patients')
    .select('request_guid')
    .where('request_guid', '=', guid)
    .where('birth_date', '=', birthDate)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores the confirmation of the user of a launch. Returns false if a user confirmed the same before.
 * @param at ISO 8601 instant
 */
export async function storeConfirmation(
  tx: OrderingTransaction,
  { launchId, request: { author, patient } }: LaunchContext,
  { guid, at }: { readonly guid: string; readonly at: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('confirmed_patients')
    .values({
      request_guid: guid,
      birth_date: patient.birthDate,
      launch_id: launchId,
      author: jsonb(author),
      confirmed_at: at,
    })
    .onConflict((conflict) => conflict.columns(['request_guid', 'birth_date']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}
