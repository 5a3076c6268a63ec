import type { PracticeBinding } from '@clinical-launch/contracts/coded-identifiers';
import type { CloudEvent, RejectedEvent } from '@clinical-launch/contracts/events/cloud-event';
import { appendToOutbox, sqlOutbox } from '@clinical-launch/storage/sql-outbox';
import type { Storage } from '@clinical-launch/storage/storage';
import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely';
import type { ClientKey } from '../domain/find-callback.ts';
import { addDelivery, createDeliveries, type Deliveries } from './deliveries.ts';
import { migrations, schema, type Tables } from './tables.ts';

export type NewDocument = {
  readonly orderGuid: string;
  readonly orderVersion: number;
  readonly messageId: string;
  /** The event of the document. A repeated event creates no second document. */
  readonly event: { readonly id: string; readonly time: string; readonly traceparent: string };
  readonly launchId: string;
  readonly practice: { readonly system: string; readonly code: string };
  readonly xml: string;
  /** The pseudonym of the order's patient. */
  readonly patient?: string | undefined;
  /** The time in RFC 3339 at which the document was created. */
  readonly renderedAt: string;
  /** The client whose callback address receives the document. */
  readonly deliverTo?: ClientKey;
};

export type OrderDocument = Pick<NewDocument, 'orderGuid' | 'messageId' | 'xml' | 'patient'>;

export type DocumentKey = {
  readonly orderGuid: string;
  readonly launchId: string;
  /** The lowest acceptable version of the order. If absent, any version is accepted. */
  readonly leastVersion?: number;
  /** The practices that the launch's client is bound to. If absent, the client may act for every practice. */
  readonly practices?: PracticeBinding;
};

/** The store of order documents and their events. */
export type Documents = {
  /**
   * Stores a document, its events and its delivery in one transaction. If its event was already handled,
   * stores nothing and returns `false`.
   */
  store(document: NewDocument, events: readonly CloudEvent[]): Promise<boolean>;
  /**
   * Returns the newest document of this order from this launch. Returns undefined if this launch has no
   * document of at least the requested version.
   */
  find(key: DocumentKey): Promise<OrderDocument | undefined>;
  /** Returns the newest document of every other order of this launch, sorted by creation. */
  findOthers(key: DocumentKey): Promise<OrderDocument[]>;
  record(events: readonly CloudEvent[]): Promise<void>;
  readonly deliveries: Deliveries;
  readonly outbox: ReturnType<typeof sqlOutbox>;
};

/** Opens the service's schema, migrated to the newest version. */
export function openSchema(storage: Storage): Promise<Kysely<Tables>> {
  return storage.open<Tables>(schema, migrations);
}

/**
 * Creates the store of documents.
 * @param onRejected receives each event that the outbox rejects
 */
export function createDocuments(
  database: Kysely<Tables>,
  onRejected?: (rejected: RejectedEvent) => void,
): Documents {
  return {
    store: (document, events) => store(database, document, events),
    find: (key) => find(database, key),
    findOthers: (key) => findOthers(database, key),
    record: (events) => database.transaction().execute((transaction) => appendToOutbox(transaction, events)),
    deliveries: createDeliveries(database),
    outbox: sqlOutbox(database, onRejected === undefined ? {} : { onRejected }),
  };
}

function store(
  database: Kysely<Tables>,
  document: NewDocument,
  events: readonly CloudEvent[],
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const inserted = await transaction
      .insertInto('document')
      .values({
        order_guid: document.orderGuid,
        order_version: document.orderVersion,
        message_id: document.messageId,
        event_id: document.event.id,
        event_time: document.event.time,
        launch_id: document.launchId,
        practice_system: document.practice.system,
        practice_code: document.practice.code,
        xml: document.xml,
        patient: document.patient ?? null,
        rendered_at: document.renderedAt,
      })
      .onConflict((conflict) => conflict.column('event_id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted === undefined) return false;
    const { deliverTo, event, renderedAt } = document;
    if (deliverTo !== undefined) {
      const { time: eventTime, traceparent } = event;
      await addDelivery(transaction, { ...deliverTo, document, eventTime, traceparent, now: renderedAt });
    }
    await appendToOutbox(transaction, events);
    return true;
  });
}

async function find(
  database: Kysely<Tables>,
  { orderGuid, leastVersion = 0, ...own }: DocumentKey,
): Promise<OrderDocument | undefined> {
  const row = await database
    .selectFrom('document')
    .select(['order_guid', 'message_id', 'xml', 'patient'])
    .where('order_guid', '=', orderGuid)
    .where('order_version', '>=', leastVersion)
    .where(isOfLaunch(own))
    .orderBy('order_version', 'desc')
    .orderBy('event_time', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && documentOf(row);
}

/**
 * Matches documents of this launch, for the practices to which the launch's client is bound. The ordering
 * service already enforces the binding, so this check only limits the effect of an error in that service.
 */
function isOfLaunch({ launchId, practices }: Pick<DocumentKey, 'launchId' | 'practices'>) {
  return (by: ExpressionBuilder<Tables, 'document'>): Expression<SqlBool> => {
    const isOwn = by('launch_id', '=', launchId);
    if (practices === undefined) return isOwn;
    const codes = (system: keyof PracticeBinding) => sql`${sql.val([...practices[system]])}::text[]`;
    return by.and([
      isOwn,
      sql<SqlBool>`case practice_system
        when 'ods-organization-code'
          then upper(practice_code collate "C") = any(${codes('ods-organization-code')})
        when 'local-org-code' then practice_code = any(${codes('local-org-code')})
        else false end`,
    ]);
  };
}

async function findOthers(
  database: Kysely<Tables>,
  { orderGuid, ...own }: DocumentKey,
): Promise<OrderDocument[]> {
  const newest = database
    .selectFrom('document')
    .distinctOn('order_guid')
    .select(['id', 'order_guid', 'message_id', 'xml', 'patient'])
    .where(isOfLaunch(own))
    .where('order_guid', '<>', orderGuid)
    .orderBy('order_guid')
    .orderBy('order_version', 'desc')
    .orderBy('event_time', 'desc')
    .orderBy('id', 'desc')
    .as('newest');
  const rows = await database.selectFrom(newest).selectAll().orderBy('id').execute();
  return rows.map(documentOf);
}

type Row = Pick<Selectable<Tables['document']>, 'order_guid' | 'message_id' | 'xml' | 'patient'>;

const documentOf = (row: Row): OrderDocument => ({
  orderGuid: row.order_guid,
  messageId: row.message_id,
  xml: row.xml,
  patient: row.patient ?? undefined,
});
