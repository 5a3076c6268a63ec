import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts';
import type { Consumer } from '@clinical-launch/events';
import type { Claims } from '@clinical-launch/tickets';
import type { OriginatingIds } from '../store/originating-ids.ts';

type Recording = {
  readonly originatingIds: OriginatingIds;
  readonly claims: Pick<Claims, 'hold'>;
};

/**
 * Records the caller's identifier of each launch. Also stores its claim again, in case Redis lost its data
 * before this event arrived: the rebuild did not find the claim then.
 */
export function onLaunchUrlIssued({ originatingIds, claims }: Recording): Consumer {
  return {
    name: 'originating-ids',
    ...eventConsumers['originating-ids'],
    async handle(event) {
      const claim = claimOf(event);
      if (claim === undefined) return;
      await originatingIds.record(claim);
      await claims.hold([claim]);
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
