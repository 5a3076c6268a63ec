import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Milliseconds of a lease: the longest attempt plus a minute for clocks of replicas that differ. */
const leaseMs = 75_000;

/**
 * Milliseconds in which a logout token is retried: the lifetime of a launch, unless its realm sets another.
 */
const tryForMs = 12 * 3_600_000;

/**
 * Milliseconds that an ended delivery is stored, to recognise a repeated event and for operators to inspect.
 */
const keptForMs = 7 * 86_400_000;

/** A revoked launch whose partner application must receive a logout token. */
export type NewLogout = {
  /** The id of the event; a repeated event adds nothing. */
  readonly id: string;
  readonly realm: string;
  readonly clientId: string;
  readonly launchId: string;
  readonly traceparent: string;
};

/** A delivery that this process has leased. */
export type DueLogout = NewLogout & {
  readonly lease: string;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  /** milliseconds since 1970 */
  readonly giveUpAt: number;
};

export type LogoutSettlement = {
  readonly state: 'pending' | 'delivered' | 'dead';
  /** milliseconds since 1970 */
  readonly nextAttemptAt?: number | undefined;
  readonly status?: number | undefined;
  readonly failure?: string | undefined;
};

/** The logout tokens to deliver. Times are milliseconds since 1970. */
export type Logouts = {
  /** Adds a delivery and resolves with whether it is new. */
  add(logout: NewLogout, now: number): Promise<boolean>;
  /** Leases the delivery that has been due longest, except those for these receivers (`realm clientId`). */
  claim(now: number, busyReceivers: readonly string[]): Promise<DueLogout | undefined>;
  /** Returns when the next delivery is due that nobody holds, except those for these receivers. */
  nextDueAt(now: number, busyReceivers: readonly string[]): Promise<number | undefined>;
  /**
   * Stores the result of an attempt; does nothing if the lease expired and another process holds the
   * delivery.
   */
  settle(due: DueLogout, settlement: LogoutSettlement): Promise<void>;
  /** Releases a lease as if it had not been claimed. */
  giveBack(due: DueLogout): Promise<void>;
};

/** Names the partner application that a logout token is for. */
export const receiverOf = ({ realm, clientId }: Pick<NewLogout, 'realm' | 'clientId'>): string =>
  `${realm} ${clientId}`;

/** Creates the table's operations in an open schema. */
export function createLogouts(database: Kysely<Tables>): Logouts {
  return {
    async add({ id, realm, clientId, launchId, traceparent }, now) {
      await database
        .deleteFrom('logout')
        .where('state', '<>', 'pending')
        .where('waiting_since', '<', new Date(now - keptForMs))
        .execute();
      const added = await database
        .insertInto('logout')
        .values({
          id,
          realm,
          client_id: clientId,
          launch_id: launchId,
          traceparent,
          state: 'pending',
          attempts: 0,
          waiting_since: new Date(now),
          next_attempt_at: new Date(now),
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id')
        .executeTakeFirst();
      return added !== undefined;
    },
    claim: (now, busyReceivers) => claim(database, now, busyReceivers),
    async nextDueAt(now, busyReceivers) {
      const next = await selectFree(database, now, busyReceivers)
        .select('next_attempt_at')
        .executeTakeFirst();
      return next?.next_attempt_at.getTime();
    },
    async settle({ id, lease }, { state, nextAttemptAt, status = null, failure = null }) {
      await database
        .updateTable('logout')
        .set({
          state,
          last_status: status,
          last_failure: failure,
          lease: null,
          leased_until: null,
          ...(nextAttemptAt === undefined ? {} : { next_attempt_at: new Date(nextAttemptAt) }),
        })
        .where('id', '=', id)
        .where('lease', '=', lease)
        .execute();
    },
    async giveBack({ id, lease }) {
      await database
        .updateTable('logout')
        .set(({ eb }) => ({ lease: null, leased_until: null, attempts: eb('attempts', '-', 1) }))
        .where('id', '=', id)
        .where('lease', '=', lease)
        .execute();
    },
  };
}

async function claim(
  database: Kysely<Tables>,
  now: number,
  busyReceivers: readonly string[],
): Promise<DueLogout | undefined> {
  const lease = randomUUID();
  const row = await database
    .updateTable('logout')
    .set(({ eb }) => ({
      attempts: eb('attempts', '+', 1),
      lease,
      leased_until: new Date(now + leaseMs),
      give_up_at: sql<Date>`coalesce(give_up_at, ${new Date(now + tryForMs)}::timestamptz)`,
    }))
    .where(
      'id',
      '=',
      selectFree(database, now, busyReceivers)
        .select('id')
        .where('next_attempt_at', '<=', new Date(now))
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst();
  return (
    row && {
      id: row.id,
      realm: row.realm,
      clientId: row.client_id,
      launchId: row.launch_id,
      traceparent: row.traceparent,
      lease,
      attempts: row.attempts,
      giveUpAt: row.give_up_at?.getTime() ?? now + tryForMs,
    }
  );
}

/** Selects the delivery that is due first of those that nobody holds, except those for these receivers. */
function selectFree(database: Kysely<Tables>, now: number, busyReceivers: readonly string[]) {
  return database
    .selectFrom('logout')
    .where('state', '=', 'pending')
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', new Date(now))]))
    .where(sql<boolean>`not (realm || ' ' || client_id = any(${[...busyReceivers]}::text[]))`)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(1);
}
