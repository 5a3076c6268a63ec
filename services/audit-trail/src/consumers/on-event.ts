import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import type { BatchConsumer } from '@clinical-launch/events/event-bus';
import type { Claims } from '@clinical-launch/tickets/claims';
import type { OriginatingIds } from '../store/originating-ids.ts';
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

type Recording = {
  readonly originatingIds: OriginatingIds;
  readonly claims: Pick<Claims, 'hold'>;
};

/**
 * Records the identifiers that callers gave to their launches. Also restores the claims on these identifiers
 * in Redis: if Redis lost its data before the events arrived, the rebuild did not include the claims.
 */
export function onLaunchUrlIssued({ originatingIds, claims }: Recording): BatchConsumer {
  return {
    name: 'originating-ids',
    ...eventConsumers['originating-ids'],
    async handleAll(events) {
      const issued = events.flatMap((event) => claimOf(event) ?? []);
      await originatingIds.record(issued);
      await claims.hold(issued);
    },
  };
}

function claimOf(event: CloudEvent) {
  if (!isLaunchUrlIssued(event) || event.data.claim === undefined) return undefined;
  const { name, ttlSeconds } = event.data.claim;
  const claimedAt = Date.parse(event.time);
  return { name, holder: event.data.action, claimedAt, expiresAt: claimedAt + ttlSeconds * 1000 };
}

const isLaunchUrlIssued = (event: CloudEvent): event is CloudEvent<'launch.url.issued.v1'> =>
  event.type === 'launch.url.issued.v1';
