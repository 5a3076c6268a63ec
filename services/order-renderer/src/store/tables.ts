import { type OutboxTables, outboxMigration, rejectedEventsMigration } from '@clinical-launch/storage';
import { type ColumnType, type Generated, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The service's schema. */
export const schema = 'order_renderer';

type DocumentTable = {
  id: Generated<string>;
  order_guid: string;
  /** Which state of the order it shows; the newest document of an order goes by this, then by the time. */
  order_version: number;
  message_id: string;
  event_id: string;
  /** When the order came to be as the document shows it. */
  event_time: ColumnType<Date, string, never>;
  launch_id: string;
  practice_system: string;
  practice_code: string;
  xml: string;
  rendered_at: ColumnType<Date, string, never>;
};

/** Tried until it is delivered, or given up: then it is dead. */
export const deliveryStates = ['dead', 'pending', 'delivered'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

type Time = ColumnType<Date, string, string>;
type OptionalTime = ColumnType<Date | null, string | null | undefined, string | null>;

/** For each order and client one row, which names the newest document that the client is to get. */
type DeliveryTable = {
  id: Generated<string>;
  order_guid: string;
  issuer: string;
  client_id: string;
  message_id: string;
  order_version: number;
  event_time: Time;
  traceparent: string;
  state: DeliveryState;
  /** Those that were begun, the one under way included. */
  attempts: number;
  /** Since when it is to be delivered: made, or replayed. */
  waiting_since: Time;
  next_attempt_at: Time;
  /** A day after the first attempt. */
  give_up_at: OptionalTime;
  last_attempt_at: OptionalTime;
  last_status: number | null;
  last_failure: string | null;
  /** Who delivers it at present, and until when nobody else does. */
  lease: string | null;
  leased_until: OptionalTime;
};

export type Tables = OutboxTables & { document: DocumentTable; delivery: DeliveryTable };

const table = (name: string) => sql.id(schema, name);

/** The migrations of the service's schema, in their order. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-document': {
    async up(db) {
      await sql`create table ${table('document')} (
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
      await sql`create index on ${table('document')} (order_guid, event_time)`.execute(db);
    },
  },
  '0002-outbox': outboxMigration(schema),
  '0003-order-version': {
    async up(db) {
      await sql`alter table ${table('document')} add column order_version integer not null default 1`.execute(
        db,
      );
      await sql`create index on ${table('document')} (launch_id)`.execute(db);
    },
  },
  '0004-delivery': { up: createDelivery },
  '0005-rejected-events': rejectedEventsMigration(schema),
};

async function createDelivery(db: Kysely<unknown>): Promise<void> {
  await sql`create table ${table('delivery')} (
    id bigint generated always as identity primary key,
    order_guid uuid not null,
    issuer text not null,
    client_id text not null,
    message_id uuid not null references ${table('document')} (message_id),
    order_version integer not null,
    event_time timestamptz not null,
    traceparent text not null,
    state text not null check (state in ('pending', 'delivered', 'dead')),
    attempts integer not null,
    waiting_since timestamptz not null,
    next_attempt_at timestamptz not null,
    give_up_at timestamptz,
    last_attempt_at timestamptz,
    last_status integer,
    last_failure text,
    lease uuid,
    leased_until timestamptz,
    unique (order_guid, issuer, client_id)
  )`.execute(db);
  await sql`create index on ${table('delivery')} (next_attempt_at) where state = 'pending'`.execute(db);
  // What is delivered is most of it, and nobody looks for that.
  await sql`create index on ${table('delivery')} (state, id) where state <> 'delivered'`.execute(db);
}
