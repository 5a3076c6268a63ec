import type { DeliveryState } from '@clinical-launch/deliveries/delivery-table';
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** A delivery for an operator, without the document. */
export type ListedDelivery = {
  readonly messageId: string;
  readonly state: DeliveryState;
  readonly orderGuid: string;
  readonly orderVersion: number;
  readonly launchId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly attempts: number;
  readonly waitingSince: Date;
  readonly lastAttemptAt: Date | null;
  /** The time of the next attempt, or null for a delivered or dead document. */
  readonly nextAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastFailure: string | null;
};

/** Lists the oldest deliveries in a state. */
export async function listDeliveries(
  database: Kysely<Tables>,
  state: DeliveryState,
  limit = 1000,
): Promise<ListedDelivery[]> {
  const rows = await database
    .selectFrom('delivery')
    .innerJoin('document', 'document.message_id', 'delivery.message_id')
    .selectAll('delivery')
    .select('document.launch_id')
    .where('state', '=', state)
    .orderBy('delivery.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    messageId: row.message_id,
    state: row.state,
    orderGuid: row.order_guid,
    orderVersion: row.order_version,
    launchId: row.launch_id,
    issuer: row.issuer,
    clientId: row.client_id,
    attempts: row.attempts,
    waitingSince: row.waiting_since,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.state === 'pending' ? row.next_attempt_at : null,
    lastStatus: row.last_status,
    lastFailure: row.last_failure,
  }));
}

/**
 * Delivers documents again: all dead deliveries, or the dead and delivered documents with the given ids.
 * Running renderers find them at their next poll, because their next attempt is overdue, and retry them for a
 * day.
 * @returns the message ids of the replayed documents
 */
export async function replayDeliveries(
  database: Kysely<Tables>,
  now: number,
  messageIds?: readonly string[],
): Promise<string[]> {
  const anew = database.updateTable('delivery').set({
    state: 'pending',
    attempts: 0,
    give_up_at: null,
    waiting_since: new Date(now),
  });
  const chosen =
    messageIds === undefined
      ? anew.where('state', '=', 'dead')
      : anew.where('state', 'in', ['dead', 'delivered']).where('message_id', 'in', [...messageIds]);
  const rows = await chosen.returning('message_id').execute();
  return rows.map(({ message_id: messageId }) => messageId);
}
