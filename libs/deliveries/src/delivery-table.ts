import { randomUUID } from 'node:crypto';
import {
  type ColumnType,
  type Generated,
  type GeneratedAlways,
  type Kysely,
  type Selectable,
  sql,
  type Transaction,
} from 'kysely';

/** A delivery is `pending` until it is `delivered`, or until it is `dead` after its last attempt. */
export const deliveryStates = ['dead', 'pending', 'delivered'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

type Time = ColumnType<Date, Date, Date>;
type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

/**
 * The columns that every table `delivery` has. Each service adds its own columns. A process leases a row, so
 * that two processes never attempt the same delivery at the same time.
 */
export type DeliveryColumns = {
  id: Generated<string>;
  /**
   * The id of the message that is delivered. The service may replace the message at any time, and then resets
   * the attempts.
   */
  message_id: string;
  /**
   * The receiver, which the database computes from columns of the service. Each process sends a receiver one
   * delivery at a time.
   */
  receiver: GeneratedAlways<string>;
  traceparent: string;
  state: DeliveryState;
  /** The number of started attempts, including an attempt in progress. */
  attempts: number;
  waiting_since: Time;
  next_attempt_at: Time;
  /** The time after which no attempt follows. The first attempt sets it. */
  give_up_at: OptionalTime;
  last_attempt_at: OptionalTime;
  last_status: number | null;
  last_failure: string | null;
  /**
   * The lease of the process that holds the delivery. Until the lease ends, no other process attempts the
   * delivery.
   */
  lease: string | null;
  leased_until: OptionalTime;
};

export type DeliveryTables = { delivery: DeliveryColumns };

/** A delivery that this process holds until its lease ends. */
export type LeasedDelivery = {
  readonly id: string;
  readonly lease: string;
  readonly messageId: string;
  readonly receiver: string;
  readonly traceparent: string;
  /** The number of attempts, including the current attempt. */
  readonly attempts: number;
  /** The time after which no attempt follows, in milliseconds since 1970. */
  readonly giveUpAt: number;
};

type LeasedRow<Tables extends DeliveryTables> = LeasedDelivery & {
  readonly row: Selectable<Tables['delivery']>;
};

/** The result of an attempt, as it is stored. */
export type Settlement = {
  readonly state: DeliveryState;
  /** The time of the next attempt in milliseconds since 1970. Absent after the last attempt. */
  readonly nextAttemptAt?: number;
  readonly status?: number;
  readonly failure?: string;
};

/**
 * The duration of a lease in milliseconds: the longest attempt, plus a minute because the clocks of replicas
 * may differ.
 */
const leaseMs = 75_000;

/** Returns the column values of a new or replayed delivery, for which no attempt was made. */
export const waitingFrom = (now: Date) => ({
  state: 'pending' as const,
  attempts: 0,
  waiting_since: now,
  next_attempt_at: now,
  give_up_at: null,
});

type Database<Tables> = Kysely<Tables> | Transaction<Tables>;

type LeaseOptions = {
  /** The current time in milliseconds since 1970. */
  readonly now: number;
  readonly busyReceivers: readonly string[];
  /** The time for which a delivery is retried, in milliseconds after its first attempt. */
  readonly tryForMs: number;
};

/** Leases the delivery that has been due longest and whose receiver is not busy. Counts the attempt. */
export async function leaseDelivery<Tables extends DeliveryTables>(
  database: Database<Tables>,
  { now, busyReceivers, tryForMs }: LeaseOptions,
): Promise<LeasedRow<Tables> | undefined> {
  const lease = randomUUID();
  const due = selectFree(database, now, busyReceivers)
    .select('id')
    .where('next_attempt_at', '<=', new Date(now))
    .forUpdate()
    .skipLocked();
  const row = await onDeliveries(database)
    .updateTable('delivery')
    .set(({ eb }) => ({
      attempts: eb('attempts', '+', 1),
      lease,
      leased_until: new Date(now + leaseMs),
      last_attempt_at: new Date(now),
      give_up_at: sql<Date>`coalesce(give_up_at, ${new Date(now + tryForMs)}::timestamptz)`,
    }))
    .where('id', '=', due)
    .returningAll()
    .executeTakeFirst();
  return (
    row && {
      id: row.id,
      lease,
      messageId: row.message_id,
      receiver: row.receiver,
      traceparent: row.traceparent,
      attempts: row.attempts,
      giveUpAt: row.give_up_at?.getTime() ?? now + tryForMs,
      row: row as unknown as Selectable<Tables['delivery']>,
    }
  );
}

/**
 * Returns the time, in milliseconds since 1970, at which the next delivery without a lease is due. Ignores
 * deliveries for busy receivers.
 */
export async function findNextDue<Tables extends DeliveryTables>(
  database: Database<Tables>,
  now: number,
  busyReceivers: readonly string[],
): Promise<number | undefined> {
  const next = await selectFree(database, now, busyReceivers).select('next_attempt_at').executeTakeFirst();
  return next?.next_attempt_at.getTime();
}

/**
 * Stores the result of an attempt and releases the lease. If the service has replaced the message, stores no
 * result and returns `replaced`. If the lease ended and another process holds the delivery, changes nothing
 * and returns `lost`.
 */
export async function settleDelivery<Tables extends DeliveryTables>(
  database: Database<Tables>,
  { id, lease, messageId }: LeasedDelivery,
  { state, nextAttemptAt, status, failure }: Settlement,
): Promise<'settled' | 'replaced' | 'lost'> {
  const held = onDeliveries(database)
    .updateTable('delivery')
    .set({ lease: null, leased_until: null })
    .where('id', '=', id)
    .where('lease', '=', lease);
  const settled = await held
    .set({
      state,
      last_status: status ?? null,
      last_failure: failure ?? null,
      ...(nextAttemptAt === undefined ? {} : { next_attempt_at: new Date(nextAttemptAt) }),
    })
    .where('message_id', '=', messageId)
    .executeTakeFirst();
  if (settled.numUpdatedRows > 0) return 'settled';
  return (await held.executeTakeFirst()).numUpdatedRows > 0 ? 'replaced' : 'lost';
}

/** Releases a lease, and does not count the attempt. */
export async function releaseDelivery<Tables extends DeliveryTables>(
  database: Database<Tables>,
  { id, lease, messageId }: LeasedDelivery,
): Promise<void> {
  await onDeliveries(database)
    .updateTable('delivery')
    .set(({ eb }) => ({
      lease: null,
      leased_until: null,
      // If the service has replaced the message, `attempts` counts only attempts for the new message.
      attempts: eb
        .case()
        .when('message_id', '=', messageId)
        .then(eb('attempts', '-', 1))
        .else(eb.ref('attempts'))
        .end(),
    }))
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute();
}

/** Selects the delivery that is due first, has no lease, and whose receiver is not busy. */
const selectFree = <Tables extends DeliveryTables>(
  database: Database<Tables>,
  now: number,
  busyReceivers: readonly string[],
) =>
  onDeliveries(database)
    .selectFrom('delivery')
    .where('state', '=', 'pending')
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', new Date(now))]))
    .where(sql<boolean>`not (receiver = any(${[...busyReceivers]}::text[]))`)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(1);

const onDeliveries = <Tables extends DeliveryTables>(database: Database<Tables>) =>
  database as unknown as Kysely<DeliveryTables>;
