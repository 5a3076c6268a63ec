import type { RejectedEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Logger } from '@clinical-launch/runtime/logger';
import { meter } from '@clinical-launch/runtime/metrics';

/**
 * Returns a function that reports an event that an outbox set aside: logs an error without the event's data,
 * and counts the event.
 */
export function reportRejectedEvents(outbox: string, logger: Logger): (rejected: RejectedEvent) => void {
  const count = meter().createCounter('clinical_launch.outbox.rejected', {
    description: 'Events that an outbox set aside, because the bus would refuse them',
    unit: '{event}',
  });
  const about = { 'clinical_launch.outbox.name': outbox };
  // Starts at 0, because Prometheus sees no increase in a series whose first value is already 1.
  count.add(0, about);
  return ({ place, reason }) => {
    count.add(1, about);
    logger.error({ outbox, place, reason }, 'an event cannot be published: it was set aside');
  };
}
