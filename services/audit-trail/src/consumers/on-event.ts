import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import type { BatchConsumer } from '@clinical-launch/events/event-bus';
import type { StoreEvents } from '../work/store-events.ts';

type Storing = {
  readonly store: StoreEvents;
  readonly onStored?: (events: readonly CloudEvent[]) => void;
};

/** Stores every event of the platform. */
export function onEvent({ store, onStored }: Storing): BatchConsumer {
  return {
    name: 'audit-trail',
    ...eventConsumers['audit-trail'],
    async handleAll(events) {
      await store(events);
      onStored?.(events);
    },
  };
}
