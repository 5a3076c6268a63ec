import type { CloudEvent } from '@clinical-launch/contracts';
import { type Generated, type Kysely, sql, type Transaction } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The table in which a service leaves events in the same transaction as the change that they tell of. */
export type OutboxTables = {
  outbox: { id: Generated<string>; event: CloudEvent; created_at: Generated<Date> };
};

export type OutboxLevel = {
  /** Events that wait. */
  readonly depth: number;
  /** Since the oldest of them was left here; 0 when none waits. */
  readonly oldestAgeSeconds: number;
};

type SqlOutboxOptions = {
  /** Events of one batch at most: they stay locked, in an open transaction, while they are published. */
  readonly batchSize?: number;
  /**
   * How long one batch may take to publish, in milliseconds. Longer than the bus's own time-out, so that nothing is
   * under way any more when the batch is given back, and shorter than the database's idle-in-transaction time-out.
   */
  readonly publishTimeoutMs?: number;
};

/** The migration that gives a service's schema its outbox. */
export function outboxMigration(schema: string): Migration {
  return {
    async up(db) {
      await sql`create table ${sql.id(schema)}.outbox (
        id bigint generated always as identity primary key,
        event jsonb not null,
        created_at timestamptz not null default clock_timestamp()
      )`.execute(db);
    },
  };
}

/** Leaves events in the outbox; they go out if and only if the transaction is committed. */
export async function appendToOutbox<Tables extends OutboxTables>(
  transaction: Transaction<Tables>,
  events: readonly CloudEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await (transaction as unknown as Transaction<OutboxTables>)
    .insertInto('outbox')
    .values(events.map((event) => ({ event: sql<CloudEvent>`${JSON.stringify(event)}::jsonb` })))
    .execute();
}

/**
 * The outbox as the relay drains it: oldest first, each batch by one relay alone, removed when published. A relay
 * that dies gives its batch back with its connection. Events go out at least once: twice only when the database is
 * lost between the broker's confirmation and the commit.
 */
export function sqlOutbox<Tables extends OutboxTables>(
  database: Kysely<Tables>,
  { batchSize = 100, publishTimeoutMs = 15_000 }: SqlOutboxOptions = {},
) {
  const outbox = database as unknown as Kysely<OutboxTables>;
  return {
    drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number> {
      return outbox.transaction().execute(async (transaction) => {
        const waiting = await takeBatch(transaction, batchSize);
        if (waiting.length === 0) return 0;
        await inTime(publish(waiting.map(({ event }) => event)), publishTimeoutMs);
        const ids = waiting.map(({ id }) => id);
        await transaction.deleteFrom('outbox').where('id', 'in', ids).execute();
        return waiting.length;
      });
    },
    /** What waits, that of relays at work included. Counts the whole table: for metrics, not for requests. */
    async level(): Promise<OutboxLevel> {
      const { depth, age } = await outbox
        .selectFrom('outbox')
        .select(({ fn }) => fn.countAll<string>().as('depth'))
        .select(sql<number | null>`extract(epoch from clock_timestamp() - min(created_at))::float8`.as('age'))
        .executeTakeFirstOrThrow();
      return { depth: Number(depth), oldestAgeSeconds: age ?? 0 };
    },
  };
}

/** The oldest events that no other relay holds. */
function takeBatch(transaction: Transaction<OutboxTables>, batchSize: number) {
  return transaction
    .selectFrom('outbox')
    .select(['id', 'event'])
    .orderBy('id')
    .limit(batchSize)
    .forUpdate()
    .skipLocked()
    .execute();
}

async function inTime(published: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Nothing was confirmed in ${timeoutMs} ms`)), timeoutMs);
  await Promise.race([published, late]).finally(() => clearTimeout(timer));
}
