import {
  assertCloudEvent,
  type CloudEvent,
  faultOfReceivedEvent,
  type RejectedEvent,
} from '@clinical-launch/contracts/events/cloud-event';
import { withTimeout } from '@clinical-launch/runtime/clock';
import { type Generated, type Kysely, sql, type Transaction } from 'kysely';

/** The table in which a service stores events in the same transaction as the change that they report. */
export type OutboxTables = {
  outbox: {
    id: Generated<string>;
    event: CloudEvent;
    created_at: Generated<Date>;
    /** The time at which the event was set aside, because the bus would refuse it. */
    rejected_at: Date | null;
  };
};

export type OutboxLevel = {
  readonly depth: number;
  /** Seconds since the oldest waiting event was stored; 0 if no event waits. */
  readonly oldestAgeSeconds: number;
};

type SqlOutboxOptions = {
  /**
   * The maximum number of events of a batch. They stay locked, in an open transaction, while they are
   * published.
   */
  readonly batchSize?: number;
  /**
   * Milliseconds that one batch may take to publish. This is longer than the timeout of the bus, so that no
   * event is being published when the batch is released. It is shorter than the database's
   * idle-in-transaction timeout.
   */
  readonly publishTimeoutMs?: number;
  /**
   * Reports each event that was set aside. Its row stays in the table until an operator has dealt with it.
   */
  readonly onRejected?: (rejected: RejectedEvent) => void;
};

/**
 * Stores events in the outbox. They are published if and only if the transaction is committed.
 * @throws TypeError for an event that is not in the catalogue
 */
export async function appendToOutbox<Tables extends OutboxTables>(
  transaction: Transaction<Tables>,
  events: readonly CloudEvent[],
): Promise<void> {
  if (events.length === 0) return;
  for (const event of events) assertCloudEvent(event);
  await (transaction as unknown as Transaction<OutboxTables>)
    .insertInto('outbox')
    .values(events.map((event) => ({ event: sql<CloudEvent>`${JSON.stringify(event)}::jsonb` })))
    .execute();
}

/**
 * Creates the outbox that a relay drains. A batch contains the oldest events, belongs to one relay, and is
 * removed when it is published. If a relay dies, its connection closes and PostgreSQL releases the batch.
 * Events are published at least once. An event is published twice if the relay or the database fails between
 * the broker's confirmation and the commit. Sets aside an event that the bus would refuse, so that it does
 * not block other events. Another version of the service may have stored such an event.
 */
export function sqlOutbox<Tables extends OutboxTables>(
  database: Kysely<Tables>,
  { batchSize = 100, publishTimeoutMs = 15_000, onRejected }: SqlOutboxOptions = {},
) {
  const outbox = database as unknown as Kysely<OutboxTables>;
  return {
    async drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number> {
      const { waiting, rejected } = await outbox.transaction().execute(async (transaction) => {
        const taken = await takeBatch(transaction, batchSize);
        const rejections = taken.flatMap(({ id, event }) => {
          const reason = faultOfReceivedEvent(event);
          return reason === undefined ? [] : [{ place: id, reason }];
        });
        const isRejected = new Set(rejections.map(({ place }) => place));
        const good = taken.filter(({ id }) => !isRejected.has(id));
        if (isRejected.size > 0) {
          const set = { rejected_at: sql<Date>`clock_timestamp()` };
          await transaction
            .updateTable('outbox')
            .set(set)
            .where('id', 'in', [...isRejected])
            .execute();
        }
        if (good.length > 0) {
          await withTimeout(
            publishTimeoutMs,
            publish(good.map(({ event }) => event)),
            () => new Error(`Nothing was confirmed within ${publishTimeoutMs} ms`),
          );
          const ids = good.map(({ id }) => id);
          await transaction.deleteFrom('outbox').where('id', 'in', ids).execute();
        }
        return { waiting: taken.length, rejected: rejections };
      });
      for (const rejection of rejected) onRejected?.(rejection);
      return waiting;
    },
    /**
     * Returns the number and age of waiting events, including events that relays currently hold. Counts the
     * whole table, so use it for metrics, not for requests.
     */
    async level(): Promise<OutboxLevel> {
      const { depth, age } = await outbox
        .selectFrom('outbox')
        .select(({ fn }) => fn.countAll<string>().as('depth'))
        .where('rejected_at', 'is', null)
        .select(sql<number | null>`extract(epoch from clock_timestamp() - min(created_at))::float8`.as('age'))
        .executeTakeFirstOrThrow();
      return { depth: Number(depth), oldestAgeSeconds: age ?? 0 };
    },
  };
}

/** Returns the oldest events that no other relay holds. */
function takeBatch(transaction: Transaction<OutboxTables>, batchSize: number) {
  return transaction
    .selectFrom('outbox')
    .select(['id', 'event'])
    .where('rejected_at', 'is', null)
    .orderBy('id')
    .limit(batchSize)
    .forUpdate()
    .skipLocked()
    .execute();
}
