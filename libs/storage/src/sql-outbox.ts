import type { CloudEvent } from '@clinical-launch/contracts';
import { type Generated, type Kysely, sql, type Transaction } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The table in which a service leaves events in the same transaction as the change that they tell of. */
export type OutboxTables = {
  outbox: { id: Generated<string>; event: CloudEvent };
};

const batchSize = 100;

/** The migration that gives a service's schema its outbox. */
export function outboxMigration(schema: string): Migration {
  return {
    async up(db) {
      await sql`create table ${sql.id(schema)}.outbox (
        id bigint generated always as identity primary key,
        event jsonb not null
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

/** The outbox as the relay drains it: oldest first, each batch by one relay alone, removed when published. */
export function sqlOutbox<Tables extends OutboxTables>(database: Kysely<Tables>) {
  const outbox = database as unknown as Kysely<OutboxTables>;
  return {
    drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number> {
      return outbox.transaction().execute(async (transaction) => {
        const waiting = await transaction
          .selectFrom('outbox')
          .select(['id', 'event'])
          .orderBy('id')
          .limit(batchSize)
          .forUpdate()
          .skipLocked()
          .execute();
        if (waiting.length === 0) return 0;
        await publish(waiting.map(({ event }) => event));
        await transaction
          .deleteFrom('outbox')
          .where(
            'id',
            'in',
            waiting.map(({ id }) => id),
          )
          .execute();
        return waiting.length;
      });
    },
  };
}
