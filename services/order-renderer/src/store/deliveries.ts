import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { CallbackDocument } from '@clinical-launch/contracts/order/callback';
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
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/*
 * The documents to post and their receivers. Each order has one row for each client. The row refers to the
 * newest document of the order. A newer document replaces an older document that was not delivered. Every
 * document contains the whole order, so the receiver loses nothing. The receiver never gets an older document
 * after a newer document. A document that cannot be delivered does not delay later documents. The lease
 * covers the whole row, so two documents of an order are never sent at the same time.
 */

/** The milliseconds for which a document is retried after its first attempt. */
const tryForMs = 24 * 3_600_000;

export type NewDelivery = {
  readonly issuer: string;
  readonly clientId: string;
  readonly traceparent: string;
  readonly document: Pick<CallbackDocument, 'orderGuid' | 'orderVersion' | 'messageId'>;
  /** The time of the document's event, and the current time, in RFC 3339. */
  readonly eventTime: string;
  readonly now: string;
};

export type DueDelivery = LeasedDelivery & {
  readonly issuer: string;
  readonly clientId: string;
  readonly document: CallbackDocument;
  /** The pseudonym of the order's patient. */
  readonly patient: string | undefined;
};

export type Deliveries = DeliveryQueue<DueDelivery> & {
  /**
   * Stores the result of an attempt with its events. Does nothing if the lease has expired and another
   * process has leased the delivery.
   */
  settle(due: DueDelivery, settlement: Settlement, events: readonly CloudEvent[]): Promise<void>;
  level(now: number): Promise<DeliveryLevel>;
};

export type DeliveryLevel = {
  readonly pending: number;
  readonly dead: number;
  /** Seconds since the oldest pending delivery was created or replayed. Zero if no delivery is pending. */
  readonly oldestAgeSeconds: number;
};

/** Creates the store of deliveries. */
export function createDeliveries(database: Kysely<Tables>): Deliveries {
  return {
    lease: (now, busyReceivers) =>
      database.transaction().execute(async (transaction) => {
        const leased = await leaseDelivery(transaction, { now, busyReceivers, tryForMs });
        if (leased === undefined) return undefined;
        const { row, ...delivery } = leased;
        const content = await contentOf(transaction, delivery.messageId);
        return { ...delivery, issuer: row.issuer, clientId: row.client_id, ...content };
      }),
    nextDueAt: (now, busyReceivers) => findNextDue(database, now, busyReceivers),
    settle: (due, settlement, events) =>
      database.transaction().execute(async (transaction) => {
        const outcome = await settleDelivery(transaction, due, settlement);
        // A newer document has its own attempts, so the failure of a replaced document no longer matters.
        const isReported =
          outcome === 'settled' || (outcome === 'replaced' && settlement.state === 'delivered');
        if (isReported) await appendToOutbox(transaction, events);
      }),
    release: (due) => releaseDelivery(database, due),
    level: (now) => deliveryLevel(database, now),
  };
}

/**
 * Adds a document to deliver, and replaces an older document of the same order. Does nothing if a newer
 * document is stored.
 */
export async function addDelivery(transaction: Transaction<Tables>, added: NewDelivery): Promise<void> {
  const { orderGuid, orderVersion, messageId } = added.document;
  await transaction
    .insertInto('delivery')
    .values({
      order_guid: orderGuid,
      issuer: added.issuer,
      client_id: added.clientId,
      message_id: messageId,
      order_version: orderVersion,
      event_time: added.eventTime,
      traceparent: added.traceparent,
      ...waitingFrom(new Date(added.now)),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['order_guid', 'issuer', 'client_id'])
        .doUpdateSet((eb) => ({
          message_id: eb.ref('excluded.message_id'),
          order_version: eb.ref('excluded.order_version'),
          event_time: eb.ref('excluded.event_time'),
          traceparent: eb.ref('excluded.traceparent'),
          state: eb.ref('excluded.state'),
          attempts: eb.ref('excluded.attempts'),
          waiting_since: eb.ref('excluded.waiting_since'),
          next_attempt_at: eb.ref('excluded.next_attempt_at'),
          give_up_at: null,
          last_status: null,
          last_failure: null,
        }))
        // The update keeps the columns of the lease, because the older document may be in transmission until
        // the lease expires. It replaces no newer document.
        .where(
          sql<boolean>`(delivery.order_version, delivery.event_time) <= (excluded.order_version, excluded.event_time)`,
        ),
    )
    .execute();
}

async function contentOf(transaction: Transaction<Tables>, messageId: string) {
  const row = await transaction
    .selectFrom('document')
    .select(['order_guid', 'order_version', 'launch_id', 'rendered_at', 'xml', 'patient'])
    .where('message_id', '=', messageId)
    .executeTakeFirstOrThrow();
  return {
    patient: row.patient ?? undefined,
    document: {
      orderGuid: row.order_guid,
      orderVersion: row.order_version,
      launchId: row.launch_id,
      messageId,
      renderedAt: row.rendered_at,
      xml: row.xml,
    },
  };
}

/** Counts the waiting and dead deliveries. @param now milliseconds since 1970 */
export async function deliveryLevel(database: Kysely<Tables>, now: number): Promise<DeliveryLevel> {
  const { pending, dead, oldest } = await database
    .selectFrom('delivery')
    .select(({ fn }) => [
      fn.countAll<string>().filterWhere('state', '=', 'pending').as('pending'),
      fn.countAll<string>().filterWhere('state', '=', 'dead').as('dead'),
      fn.min<Date | null>('waiting_since').filterWhere('state', '=', 'pending').as('oldest'),
    ])
    .where('state', '<>', 'delivered')
    .executeTakeFirstOrThrow();
  return {
    pending: Number(pending),
    dead: Number(dead),
    oldestAgeSeconds: oldest === null ? 0 : Math.max(0, (now - oldest.getTime()) / 1000),
  };
}
