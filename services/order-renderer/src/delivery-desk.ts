import { type DeliveryState, deliveryStates } from '@clinical-launch/deliveries/delivery-table';
import type { Storage } from '@clinical-launch/storage/storage';
import { type ListedDelivery, listDeliveries, replayDeliveries } from './store/delivery-desk.ts';
import { openSchema } from './store/documents.ts';

export { type DeliveryState, deliveryStates, type ListedDelivery };

/** The deliveries of order documents, as an operator sees them. */
export type DeliveryDesk = {
  /** Lists the oldest deliveries in a state, without their documents. */
  list(state: DeliveryState): Promise<ListedDelivery[]>;
  /**
   * Delivers documents again: all dead ones, or those with the given message ids that are dead or delivered.
   * @param now Milliseconds since 1970; deliveries are retried for a day from then on.
   * @returns the message ids that are replayed
   */
  replay(now: number, messageIds?: readonly string[]): Promise<string[]>;
};

/** Opens the deliveries in the database of the service, at its newest migration. */
export async function openDeliveryDesk(storage: Storage): Promise<DeliveryDesk> {
  const database = await openSchema(storage);
  return {
    list: (state) => listDeliveries(database, state),
    replay: (now, messageIds) => replayDeliveries(database, now, messageIds),
  };
}
