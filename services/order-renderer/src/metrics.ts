import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { SettledAttempt } from './delivery/deliver.ts';
import type { DeliveryLevel } from './store/deliveries.ts';

/** Observes the pending and dead deliveries, and the age of the oldest pending delivery, at each scrape. */
export function observeDeliveries(level: () => Promise<DeliveryLevel>): void {
  const meter = getMeter();
  const pending = meter.createObservableGauge('clinical_launch.delivery.pending', {
    description: 'Documents that wait for delivery to a callback address',
    unit: '{document}',
  });
  const dead = meter.createObservableGauge('clinical_launch.delivery.dead', {
    description: 'Documents whose delivery was stopped after the last attempt',
    unit: '{document}',
  });
  const age = meter.createObservableGauge('clinical_launch.delivery.oldest_age', {
    description: 'Time since the oldest document that waits for delivery was created',
    unit: 's',
  });
  meter.addBatchObservableCallback(
    async (result) => {
      const measured = await level().catch(() => undefined);
      if (measured === undefined) return;
      result.observe(pending, measured.pending);
      result.observe(dead, measured.dead);
      result.observe(age, measured.oldestAgeSeconds);
    },
    [pending, dead, age],
  );
}

/** Creates the meter of delivery attempts and of the time until a document was delivered. */
export function createAttemptMeter(): (attempt: SettledAttempt, seconds: number) => void {
  const meter = getMeter();
  const attempts = meter.createCounter('clinical_launch.delivery.attempts', {
    description: 'Attempts to deliver a document to a callback address, by their outcome',
    unit: '{attempt}',
  });
  const duration = meter.createHistogram('clinical_launch.delivery.duration', {
    description: 'Time from the creation of a document until its callback address accepted it',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400] },
  });
  return (attempt, seconds) => {
    const isDelivered = attempt.outcome === 'delivered';
    attempts.add(1, { 'clinical_launch.outcome': isDelivered ? 'delivered' : attempt.reason });
    if (isDelivered) duration.record(Math.max(0, seconds));
  };
}
