import type { DeliveryColumns } from '@clinical-launch/deliveries/delivery-table';
import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { OutboxTables } from '@clinical-launch/storage/sql-outbox';
import type { ColumnType, Generated } from 'kysely';

export const schema = 'order_renderer';

type DocumentTable = {
  id: Generated<string>;
  order_guid: string;
  /**
   * The version of the order in the document. The newest document of an order has the highest version and,
   * among documents of that version, the latest time.
   */
  order_version: number;
  message_id: string;
  event_id: string;
  /** The time at which the order reached the state in the document. */
  event_time: ColumnType<Date, string, never>;
  launch_id: string;
  practice_system: string;
  practice_code: string;
  xml: string;
  rendered_at: ColumnType<Date, string, never>;
  /**
   * The pseudonym of the order's patient, for audit events. Null if the submitted order contained no
   * pseudonym.
   */
  patient: string | null;
};

/** One row for each order and client. The row refers to the newest document for that client. */
type DeliveryTable = DeliveryColumns & {
  order_guid: string;
  issuer: string;
  client_id: string;
  order_version: number;
  event_time: ColumnType<Date, string, string>;
};

export type Tables = OutboxTables & { document: DocumentTable; delivery: DeliveryTable };

export const migrations = readMigrations(new URL('migrations/', import.meta.url));
