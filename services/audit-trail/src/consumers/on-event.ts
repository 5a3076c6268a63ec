import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import type { BatchConsumer } from '@clinical-launch/events/event-bus';
import type { Clock } from '@clinical-launch/runtime/clock';
import { meter } from '@clinical-launch/runtime/metrics';
import type { Claims } from '@clinical-launch/tickets/claims';
import { isLaunchUrlIssued } from '../domain/audit-row.ts';
import type { AuditStore } from '../store/audit-store.ts';
import type { KnownParties } from '../store/known-parties.ts';
import type { OriginatingIds } from '../store/originating-ids.ts';

type Storing = {
  readonly store: Pick<AuditStore, 'append'>;
  readonly parties: Pick<KnownParties, 'record'>;
  readonly clock: Clock;
};

/**
 * Stores every event of the platform, and the parties that the events name. Storing the same events twice has
 * no further effect. Records the delay between an event and the storage of its row.
 */
export function onEvent({ store, parties, clock }: Storing): BatchConsumer {
  const lag = meter().createHistogram('clinical_launch.audit.lag', {
    description: 'Time from an event until its row in the audit trail is stored',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600] },
  });
  return {
    name: 'audit-trail',
    ...eventConsumers['audit-trail'],
    async handleAll(events) {
      await parties.record(events);
      await store.append(events);
      const now = clock.now();
      for (const { time } of events) lag.record(Math.max(0, now - Date.parse(time)) / 1000);
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
