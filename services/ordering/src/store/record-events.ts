import type { CloudEvent } from '@clinical-launch/contracts';
import { appendToOutbox } from '@clinical-launch/storage';
import type { OrderingDatabase } from './database.ts';

/** Leaves events of what was read, which changes nothing, in the outbox. Resolves when they are kept. */
export type RecordEvents = (events: readonly CloudEvent[]) => Promise<void>;

/** Keeps events that belong to no change of the database. */
export function createRecordEvents(database: OrderingDatabase): RecordEvents {
  return (events) => database.transaction().execute((transaction) => appendToOutbox(transaction, events));
}
