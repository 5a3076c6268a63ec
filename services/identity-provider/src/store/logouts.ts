import {
  findNextDue,
  type LeasedDelivery,
  leaseDelivery,
  releaseDelivery,
  type Settlement,
  settleDelivery,
  waitingFrom,
} from '@clinical-launch/deliveries/delivery-table';
import type { DeliveryQueue } from '@clinical-launch/deliveries/delivery-worker';
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** The milliseconds for which a logout token is retried: the default lifetime of a launch. */
const tryForMs = 12 * 3_600_000;

/**
 * The milliseconds for which a finished delivery is stored, so that repeated events are recognised and
 * operators can see the delivery.
 */
const storedForMs = 7 * 86_400_000;

/** A revoked launch whose partner application must receive a logout token. */
export type NewLogout = {
  /** The id of the event. A repeated event adds nothing. */
  readonly messageId: string;
  readonly realm: string;
  readonly clientId: string;
  readonly launchId: string;
  readonly traceparent: string;
};

export type DueLogout = LeasedDelivery & NewLogout;

/** The store of logout tokens to deliver. Times are milliseconds since 1970. */
export type Logouts = DeliveryQueue<DueLogout> & {
  add(logout: NewLogout, now: number): Promise<boolean>;
  /**
   * Stores the result of an attempt. Does nothing if the lease has expired and another process has leased the
   * delivery.
   */
  settle(due: DueLogout, settlement: Settlement): Promise<void>;
};

/** Creates the store of logout tokens. */
export function createLogouts(database: Kysely<Tables>): Logouts {
  return {
    async add({ messageId, realm, clientId, launchId, traceparent }, now) {
      await database
        .deleteFrom('delivery')
        .where('state', '<>', 'pending')
        .where('waiting_since', '<', new Date(now - storedForMs))
        .execute();
      const added = await database
        .insertInto('delivery')
        .values({
          message_id: messageId,
          realm,
          client_id: clientId,
          launch_id: launchId,
          traceparent,
          ...waitingFrom(new Date(now)),
        })
        .onConflict((conflict) => conflict.column('message_id').doNothing())
        .returning('id')
        .executeTakeFirst();
      return added !== undefined;
    },
    async lease(now, busyReceivers) {
      const leased = await leaseDelivery(database, { now, busyReceivers, tryForMs });
      if (leased === undefined) return undefined;
      const { row, ...delivery } = leased;
      return { ...delivery, realm: row.realm, clientId: row.client_id, launchId: row.launch_id };
    },
    nextDueAt: (now, busyReceivers) => findNextDue(database, now, busyReceivers),
    async settle(due, settlement) {
      await settleDelivery(database, due, settlement);
    },
    release: (due) => releaseDelivery(database, due),
  };
}
