import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { CallbackDocument } from '../domain/callback-message.ts';
import { type FailureReason, tryForMs } from '../domain/failure-reason.ts';
import type { DeliveryState, Tables } from './tables.ts';

/*
 * The documents to post and their receivers. An order has one row for each client, which names its newest
 * document. A newer document replaces an older one that was not delivered. Every document contains the whole
 * order, so the receiver loses nothing. It never receives an older document after a newer one, and a document
 * that cannot be delivered does not delay later ones. A row is leased as a whole, so two documents of an
 * order are never sent at the same time.
 */

/** Milliseconds of a lease: the longest attempt plus a minute for clocks of replicas that differ. */
const leaseMs = 75_000;

export type NewDelivery = {
  readonly issuer: string;
  readonly clientId: string;
  readonly traceparent: string;
  readonly document: Pick<CallbackDocument, 'orderGuid' | 'orderVersion' | 'messageId'>;
  /** The time of the document's event, and the current time: RFC 3339. */
  readonly eventTime: string;
  readonly now: string;
};

/** A delivery that this process holds until its lease ends. */
export type DueDelivery = {
  readonly id: string;
  readonly lease: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Issuer and client id in one text. */
  readonly clientKey: string;
  readonly traceparent: string;
  readonly document: CallbackDocument;
  /** The pseudonym of the order's patient. */
  readonly patient: string | undefined;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly giveUpAt: number;
};

/** The result of an attempt. */
export type Settlement = {
  readonly state: DeliveryState;
  readonly nextAttemptAt?: number;
  readonly status?: number;
  readonly failure?: FailureReason;
};

export type Deliveries = {
  /** Leases the delivery that has been due longest, except those of these clients. */
  claim(now: number, busyClients: readonly string[]): Promise<DueDelivery | undefined>;
  /** Returns when the next delivery is due that nobody holds, except those of these clients. */
  nextDueAt(now: number, busyClients: readonly string[]): Promise<number | undefined>;
  /**
   * Stores the result of an attempt with its events; does nothing if the lease expired and another process
   * holds the delivery.
   */
  settle(due: DueDelivery, settlement: Settlement, events: readonly CloudEvent[]): Promise<void>;
  /** Releases a lease as if it had not been claimed. */
  giveBack(due: DueDelivery): Promise<void>;
  level(now: number): Promise<DeliveryLevel>;
};

export type DeliveryLevel = {
  readonly pending: number;
  readonly dead: number;
  /** Seconds since the oldest pending delivery was created or replayed; 0 when none is pending. */
  readonly oldestAgeSeconds: number;
};

/** Creates the operations on deliveries in an open schema. */
export function createDeliveries(database: Kysely<Tables>): Deliveries {
  return {
    claim: (now, busyClients) =>
      database.transaction().execute((transaction) => claim(transaction, now, busyClients)),
    nextDueAt: (now, busyClients) => nextDueAt(database, now, busyClients),
    settle: (due, settlement, events) =>
      database.transaction().execute((transaction) => settle(transaction, due, { settlement, events })),
    giveBack: (due) => giveBack(database, due),
    level: (now) => level(database, now),
  };
}

/**
 * Adds a document to deliver, in place of an older document of its order; does nothing if this one is older.
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
      state: 'pending',
      attempts: 0,
      waiting_since: added.now,
      next_attempt_at: added.now,
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
        // The lease stays: until it ends, the older document may be in transmission.
        .where(
          sql<boolean>`(delivery.order_version, delivery.event_time) <= (excluded.order_version, excluded.event_time)`,
        ),
    )
    .execute();
}

const timeOf = (ms: number) => new Date(ms).toISOString();

const clientKey = sql<string>`issuer || ' ' || client_id`;

async function claim(
  transaction: Transaction<Tables>,
  now: number,
  busyClients: readonly string[],
): Promise<DueDelivery | undefined> {
  const due = await selectFree(transaction, now, busyClients)
    .select('id')
    .where('next_attempt_at', '<=', new Date(now))
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return due && take(transaction, due.id, now);
}

async function nextDueAt(
  database: Kysely<Tables>,
  now: number,
  busyClients: readonly string[],
): Promise<number | undefined> {
  const next = await selectFree(database, now, busyClients).select('next_attempt_at').executeTakeFirst();
  return next?.next_attempt_at.getTime();
}

/** Selects the delivery that is due first of those that nobody holds, except those of these clients. */
function selectFree(database: Kysely<Tables>, now: number, busyClients: readonly string[]) {
  return database
    .selectFrom('delivery')
    .where('state', '=', 'pending')
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', new Date(now))]))
    .where(sql<boolean>`not (${clientKey} = any(${[...busyClients]}::text[]))`)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(1);
}

async function take(transaction: Transaction<Tables>, id: string, now: number): Promise<DueDelivery> {
  const lease = randomUUID();
  const row = await transaction
    .updateTable('delivery')
    .from('document')
    .whereRef('document.message_id', '=', 'delivery.message_id')
    .where('delivery.id', '=', id)
    .set(({ eb }) => ({
      attempts: eb('attempts', '+', 1),
      lease,
      leased_until: timeOf(now + leaseMs),
      last_attempt_at: timeOf(now),
      give_up_at: sql<string>`coalesce(give_up_at, ${timeOf(now + tryForMs)}::timestamptz)`,
    }))
    .returning([
      'issuer',
      'client_id',
      'attempts',
      'give_up_at',
      'traceparent',
      'document.order_guid',
      'document.order_version',
      'document.launch_id',
      'document.message_id',
      'document.rendered_at',
      'document.xml',
      'document.patient',
    ])
    .executeTakeFirstOrThrow();
  return {
    id,
    lease,
    issuer: row.issuer,
    clientId: row.client_id,
    clientKey: `${row.issuer} ${row.client_id}`,
    traceparent: row.traceparent,
    attempts: row.attempts,
    giveUpAt: row.give_up_at?.getTime() ?? now + tryForMs,
    patient: row.patient ?? undefined,
    document: {
      orderGuid: row.order_guid,
      orderVersion: row.order_version,
      launchId: row.launch_id,
      messageId: row.message_id,
      renderedAt: row.rendered_at,
      xml: row.xml,
    },
  };
}

type Outcome = { readonly settlement: Settlement; readonly events: readonly CloudEvent[] };

async function settle(
  transaction: Transaction<Tables>,
  { id, lease, document }: DueDelivery,
  { settlement, events }: Outcome,
): Promise<void> {
  const { state, nextAttemptAt, status = null, failure = null } = settlement;
  const held = await transaction
    .selectFrom('delivery')
    .select('message_id')
    .where('id', '=', id)
    .where('lease', '=', lease)
    .forUpdate()
    .executeTakeFirst();
  if (held === undefined) return;
  // A newer document has its own attempts, so the failure of this one no longer matters.
  const isCurrent = held.message_id === document.messageId;
  await transaction
    .updateTable('delivery')
    .set({
      lease: null,
      leased_until: null,
      ...(isCurrent ? { state, last_status: status, last_failure: failure } : {}),
      ...(isCurrent && nextAttemptAt !== undefined ? { next_attempt_at: timeOf(nextAttemptAt) } : {}),
    })
    .where('id', '=', id)
    .execute();
  if (isCurrent || state === 'delivered') await appendToOutbox(transaction, events);
}

async function giveBack(database: Kysely<Tables>, { id, lease, document }: DueDelivery): Promise<void> {
  await database
    .updateTable('delivery')
    .set(({ eb }) => ({
      lease: null,
      leased_until: null,
      attempts: eb
        .case()
        .when('message_id', '=', document.messageId)
        .then(eb('attempts', '-', 1))
        .else(eb.ref('attempts'))
        .end(),
    }))
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute();
}

async function level(database: Kysely<Tables>, now: number): Promise<DeliveryLevel> {
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
