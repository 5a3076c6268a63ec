import { type DeliveryState, deliveryStates } from '@clinical-launch/deliveries/delivery-table';
import type { Storage } from '@clinical-launch/storage/storage';
import { type DeliveryLevel, deliveryLevel } from './store/deliveries.ts';
import { openSchema } from './store/documents.ts';
import { type ListedDelivery, listDeliveries, replayDeliveries } from './store/operator-deliveries.ts';

export { type DeliveryState, deliveryStates, type ListedDelivery };

/** The operations of the `ops deliveries` commands on order documents. */
export type OperatorDeliveries = {
  /** Lists the oldest deliveries in a state, without their documents. */
  list(state: DeliveryState): Promise<ListedDelivery[]>;
  level(now: number): Promise<DeliveryLevel>;
  /**
   * Delivers documents again: all dead deliveries, or the dead and delivered documents with the given message
   * ids.
   * @param now milliseconds since 1970. Deliveries are retried for a day from this time
   * @returns the message ids of the replayed documents
   */
  replay(now: number, messageIds?: readonly string[]): Promise<string[]>;
};

/** Opens the deliveries in the service's database, migrated to the newest version. */
export async function openOperatorDeliveries(storage: Storage): Promise<OperatorDeliveries> {
  const database = await openSchema(storage);
  return {
    list: (state) => listDeliveries(database, state),
    level: (now) => deliveryLevel(database, now),
    replay: (now, messageIds) => replayDeliveries(database, now, messageIds),
  };
}
