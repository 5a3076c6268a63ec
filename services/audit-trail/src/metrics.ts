import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Clock } from '@clinical-launch/runtime/clock';
import { meter } from '@clinical-launch/runtime/metrics';

/** Creates the meter of the delay between an event and the storage of its row. */
export function createLagMeter(clock: Clock): (events: readonly CloudEvent[]) => void {
  const lag = meter().createHistogram('clinical_launch.audit.lag', {
    description: 'Time from an event until its row in the audit trail is stored',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600] },
  });
  return (events) => {
    const now = clock.now();
    for (const { time } of events) lag.record(Math.max(0, now - Date.parse(time)) / 1000);
  };
}
