import {
  type OutboxTables,
  outboxMigration,
  rejectedEventsMigration,
  type ServiceMigrations,
} from '@clinical-launch/storage';
import { type ColumnType, type Generated, type Kysely, sql } from 'kysely';

/** The service's schema. */
export const schema = 'order_renderer';

type DocumentTable = {
  id: Generated<string>;
  order_guid: string;
  /**
   * The version of the order that it shows. The newest document of an order has the highest version, then the
   * latest time.
   */
  order_version: number;
  message_id: string;
  event_id: string;
  /** When the order reached the state that the document shows. */
  event_time: ColumnType<Date, string, never>;
  launch_id: string;
  practice_system: string;
  practice_code: string;
  xml: string;
  rendered_at: ColumnType<Date, string, never>;
  /** The pseudonym of the order's patient, for audit events; of earlier releases' documents unknown. */
  patient: string | null;
};

/** A delivery is pending until it is delivered, or dead after its last attempt. */
export const deliveryStates = ['dead', 'pending', 'delivered'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

type Time = ColumnType<Date, string, string>;
type OptionalTime = ColumnType<Date | null, string | null | undefined, string | null>;

/** One row for each order and client, which names the newest document for that client. */
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
  /** Attempts that were started, including the current one. */
  attempts: number;
  /** When it began to wait for delivery: when it was created or replayed. */
  waiting_since: Time;
  next_attempt_at: Time;
  /** A day after the first attempt. */
  give_up_at: OptionalTime;
  last_attempt_at: OptionalTime;
  last_status: number | null;
  last_failure: string | null;
  /** The process that currently holds the delivery; no other process delivers it until the lease ends. */
  lease: string | null;
  leased_until: OptionalTime;
};

export type Tables = OutboxTables & { document: DocumentTable; delivery: DeliveryTable };

const table = (name: string) => sql.id(schema, name);

/** The migrations of the service's schema, in order. */
export const migrations: ServiceMigrations = {
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
  '0006-patient': {
    async up(db) {
      await sql`alter table ${table('document')} add column patient text`.execute(db);
    },
  },
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
  // Most rows are delivered, and no query needs them.
  await sql`create index on ${table('delivery')} (state, id) where state <> 'delivered'`.execute(db);
}
