import { meter as getMeter } from '@clinical-launch/service';
import type { DeliveryLevel } from './store/deliveries.ts';

/** Observes how many deliveries wait and how many are dead, at each scrape, as for the outboxes. */
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
