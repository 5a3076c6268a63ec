import type { CloudEvent } from '@clinical-launch/contracts';
import {
  appendToOutbox,
  type OutboxTables,
  outboxMigration,
  type Storage,
  sqlOutbox,
} from '@clinical-launch/storage';
import { type ColumnType, type Generated, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const schema = 'order_renderer';

type DocumentTable = {
  id: Generated<string>;
  order_guid: string;
  message_id: string;
  event_id: string;
  /** When the order came to be as the document shows it; which document is the newest goes by this. */
  event_time: ColumnType<Date, string, never>;
  launch_id: string;
  practice_system: string;
  practice_code: string;
  xml: string;
  rendered_at: ColumnType<Date, string, never>;
};

type Tables = OutboxTables & { document: DocumentTable };

const migrations: Readonly<Record<string, Migration>> = {
  '0001-document': {
    async up(db) {
      await sql`create table ${sql.id(schema)}.document (
        id bigint generated always as identity primary key,
        order_guid uuid not null,
        message_id uuid not null unique,
        event_id uuid not null unique,
        event_time timestamptz not null,
        launch_id uuid not null,
        practice_system text not null,
        practice_code text not null,
        xml text not null,
        rendered_at timestamptz not null
      )`.execute(db);
      await sql`create index on ${sql.id(schema)}.document (order_guid, event_time)`.execute(db);
    },
  },
  '0002-outbox': outboxMigration(schema),
};

export type NewDocument = {
  readonly orderGuid: string;
  readonly messageId: string;
  /** The event that it was made from; it makes one document however often it comes. */
  readonly event: { readonly id: string; readonly time: string };
  readonly launchId: string;
  readonly practice: { readonly system: string; readonly code: string };
  readonly xml: string;
  /** RFC 3339 */
  readonly renderedAt: string;
};

export type OrderDocument = { readonly messageId: string; readonly xml: string };

export type Lookup =
  | { readonly outcome: 'found'; readonly document: OrderDocument }
  /** There are documents of this order, all made by other launches. */
  | { readonly outcome: 'foreign' }
  | { readonly outcome: 'absent' };

/** The order documents, and the events that tell of them. */
export type Documents = {
  /** Keeps a document and its events in one transaction; `false`, and nothing kept, when its event came before. */
  keep(document: NewDocument, events: readonly CloudEvent[]): Promise<boolean>;
  /** The newest document that this launch made of this order. */
  find(key: { orderGuid: string; launchId: string }): Promise<Lookup>;
  record(events: readonly CloudEvent[]): Promise<void>;
  readonly outbox: ReturnType<typeof sqlOutbox>;
};

/** Opens the service's schema, at its newest migration. */
export async function openDocuments(storage: Storage): Promise<Documents> {
  const database = await storage.open<Tables>(schema, migrations);
  return {
    keep: (document, events) => keep(database, document, events),
    find: (key) => find(database, key),
    record: (events) => database.transaction().execute((transaction) => appendToOutbox(transaction, events)),
    outbox: sqlOutbox(database),
  };
}

function keep(
  database: Kysely<Tables>,
  document: NewDocument,
  events: readonly CloudEvent[],
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const inserted = await transaction
      .insertInto('document')
      .values({
        order_guid: document.orderGuid,
        message_id: document.messageId,
        event_id: document.event.id,
        event_time: document.event.time,
        launch_id: document.launchId,
        practice_system: document.practice.system,
        practice_code: document.practice.code,
        xml: document.xml,
        rendered_at: document.renderedAt,
      })
      .onConflict((conflict) => conflict.column('event_id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted === undefined) return false;
    await appendToOutbox(transaction, events);
    return true;
  });
}

async function find(
  database: Kysely<Tables>,
  { orderGuid, launchId }: { orderGuid: string; launchId: string },
): Promise<Lookup> {
  const row = await database
    .selectFrom('document')
    .select(['launch_id', 'message_id', 'xml'])
    .where('order_guid', '=', orderGuid)
    .orderBy((by) => by('launch_id', '=', launchId), 'desc')
    .orderBy('event_time', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return { outcome: 'absent' };
  if (row.launch_id !== launchId) return { outcome: 'foreign' };
  return { outcome: 'found', document: { messageId: row.message_id, xml: row.xml } };
}
