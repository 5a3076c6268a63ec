import { metrics } from '@opentelemetry/api';
import type { DeliveryLevel } from './store/deliveries.ts';

/** Shows how many deliveries wait and how many are given up, asked for at each scrape, as with the outboxes. */
export function observeDeliveries(level: () => Promise<DeliveryLevel>): void {
  const meter = metrics.getMeter('clinical-launch');
  const pending = meter.createObservableGauge('clinical_launch.delivery.pending', {
    description: 'Documents that are to be delivered to a callback address',
    unit: '{document}',
  });
  const dead = meter.createObservableGauge('clinical_launch.delivery.dead', {
    description: 'Documents whose delivery was given up',
    unit: '{document}',
  });
  const age = meter.createObservableGauge('clinical_launch.delivery.oldest_age', {
    description: 'Since the oldest document that is to be delivered was made',
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
