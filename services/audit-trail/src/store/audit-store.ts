import type { CloudEvent } from '@clinical-launch/contracts';
import type { Storage } from '@clinical-launch/storage';
import { type Generated, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addOriginatingIds, type OriginatingIdTables } from './originating-ids.ts';

type AuditTables = {
  event: {
    /** Order of arrival. */
    sequence: Generated<string>;
    id: string;
    correlation_id: string;
    type: string;
    event: CloudEvent;
  };
} & OriginatingIdTables;

const schema = 'audit_trail';

const migrations: Record<string, Migration> = {
  '001-events': {
    async up(db) {
      await sql`create table ${sql.id(schema)}.event (
        sequence bigint generated always as identity primary key,
        id uuid not null unique,
        correlation_id uuid not null,
        type text not null,
        event jsonb not null
      )`.execute(db);
      await sql`create index event_by_correlation on ${sql.id(schema)}.event (correlation_id, sequence)`.execute(
        db,
      );
    },
  },
  '010-originating-ids': addOriginatingIds(schema),
};

export type AuditStore = {
  /** Stores events in their order, all or none; leaves existing events unchanged. */
  keep(events: readonly CloudEvent[]): Promise<void>;
  /**
   * Returns the events of one correlation id in order of arrival, at most `limit`, after the given sequence.
   */
  findByCorrelation(
    correlationId: string,
    page: { after: string; limit: number },
  ): Promise<{ sequence: string; event: CloudEvent }[]>;
};

/** Opens the audit trail's own schema. */
export function openSchema(storage: Storage): Promise<Kysely<AuditTables>> {
  return storage.open<AuditTables>(schema, migrations);
}

/** Creates the store of the audit trail's events. */
export function createAuditStore(database: Kysely<AuditTables>): AuditStore {
  return {
    async keep(events) {
      // One statement and one commit for all of them; the sequence follows the order of arrival.
      const rows = sql<AuditTables['event']>`select (event ->> 'id')::uuid, (event ->> 'correlationid')::uuid,
          event ->> 'type', event
        from jsonb_array_elements(${JSON.stringify(events)}::jsonb) with ordinality as arrived (event, place)
        order by place`;
      await database
        .insertInto('event')
        .columns(['id', 'correlation_id', 'type', 'event'])
        .expression(rows)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    findByCorrelation: (correlationId, { after, limit }) =>
      database
        .selectFrom('event')
        .select(['sequence', 'event'])
        .where('correlation_id', '=', correlationId)
        .where('sequence', '>', after)
        .orderBy('sequence')
        .limit(limit)
        .execute(),
  };
}
