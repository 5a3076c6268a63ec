import type { RejectedEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Logger } from '@clinical-launch/runtime/logger';
import { meter } from '@clinical-launch/runtime/metrics';

/**
 * Creates the report of events that an outbox set aside: an error in the log and a count, without their data.
 */
export function reportRejectedEvents(outbox: string, logger: Logger): (rejected: RejectedEvent) => void {
  const count = meter().createCounter('clinical_launch.outbox.rejected', {
    description: 'Events that an outbox set aside, because the bus would refuse them',
    unit: '{event}',
  });
  const about = { 'clinical_launch.outbox.name': outbox };
  // A series that begins with its first event would show no increase.
  count.add(0, about);
  return ({ place, reason }) => {
    count.add(1, about);
    logger.error({ outbox, place, reason }, 'an event cannot be published: it was set aside');
  };
}
