import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { OutboxTables } from '@clinical-launch/storage/sql-outbox';
import type { ColumnType, Generated } from 'kysely';

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
  /** The pseudonym of the order's patient, for audit events; null if the submitted order named none. */
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

/** The migrations of the service's schema. */
export const migrations = readMigrations(new URL('migrations/', import.meta.url));
