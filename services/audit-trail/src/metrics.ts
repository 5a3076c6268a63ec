import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Clock } from '@clinical-launch/runtime/clock';
import { meter } from '@clinical-launch/runtime/metrics';

/** Returns a function that records the delay between an event and the storage of its row. */
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

/**
 * Observes, at each scrape, the age of the oldest event that was not exported, or 0 if every event was
 * exported. If the times of these events cannot be read, there is no value.
 */
export function observeExport(clock: Clock, times: () => Promise<readonly Date[]>): void {
  meter()
    .createObservableGauge('clinical_launch.audit.export.oldest_age', {
      description: 'Age of the oldest event of the audit trail that the collector has not accepted',
      unit: 's',
    })
    .addCallback(async (result) => {
      const waiting = await times().catch(() => undefined);
      if (waiting === undefined) return;
      const now = clock.now();
      result.observe(Math.max(0, ...waiting.map((time) => now - time.getTime())) / 1000);
    });
}
