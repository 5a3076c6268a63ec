import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { jsonb, type OrderingDatabase, type OrderingTransaction } from './database.ts';

/** The request, and the date of birth in the launch (YYYY-MM-DD). */
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
