import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { AuditStore } from '../store/audit-store.ts';
import type { KnownParties, LaunchingClients } from '../store/known-parties.ts';

export type EventStores = {
  readonly store: Pick<AuditStore, 'append'>;
  readonly clients: LaunchingClients;
  readonly parties: Pick<KnownParties, 'record'>;
};

/**
 * Stores events, the clients that launch, and the users and practices that the events name. Storing the same
 * events twice has no further effect.
 */
export type StoreEvents = (events: readonly CloudEvent[]) => Promise<void>;

export const storeEvents =
  ({ store, clients, parties }: EventStores): StoreEvents =>
  async (events) => {
    await clients.record(events.filter(isLaunchUrlIssued).map(({ data }) => data));
    await parties.record(events);
    await store.append(events);
  };

const isLaunchUrlIssued = (event: CloudEvent): event is CloudEvent<'launch.url.issued.v1'> =>
  event.type === 'launch.url.issued.v1';
