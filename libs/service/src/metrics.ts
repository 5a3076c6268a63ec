import { metrics } from './open-telemetry.ts';

/** The level of an outbox for its metrics. */
export type OutboxLevel = { readonly depth: number; readonly oldestAgeSeconds: number };

/** Returns the meter of our metrics; a process that measures nothing has one without effect. */
export const meter = () => metrics.getMeter('clinical-launch');

/** Observes depth and age of an outbox at each scrape. An outbox that does not answer shows nothing. */
export function observeOutbox(outbox: string, level: () => Promise<OutboxLevel>): void {
  const depth = meter().createObservableGauge('clinical_launch.outbox.depth', {
    description: 'Events that wait in the outbox',
    unit: '{event}',
  });
  const age = meter().createObservableGauge('clinical_launch.outbox.oldest_age', {
    description: 'Time since the oldest event in the outbox was stored',
    unit: 's',
  });
  meter().addBatchObservableCallback(
    async (result) => {
      const measured = await level().catch(() => undefined);
      if (measured === undefined) return;
      result.observe(depth, measured.depth, { 'clinical_launch.outbox.name': outbox });
      result.observe(age, measured.oldestAgeSeconds, { 'clinical_launch.outbox.name': outbox });
    },
    [depth, age],
  );
}

/** Counts one answered request (OpenTelemetry semantic conventions, `http.server.request.duration`). */
export function createRequestMeter(): (request: {
  method: string;
  route: string;
  status: number;
  seconds: number;
}) => void {
  const duration = meter().createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests',
    unit: 's',
    advice: {
      explicitBucketBoundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    },
  });
  return ({ method, route, status, seconds }) =>
    duration.record(seconds, {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
    });
}

/** Counts refusals that are over their limits. */
export type RefusalMeter = { limited(): void; dropped(count: number): void };

/** Creates the counters of refusals answered 429 and of audit events of refusals that were dropped. */
export function createRefusalMeter(): RefusalMeter {
  const limited = meter().createCounter('clinical_launch.refusals.limited', {
    description: 'Refusals answered 429 because their address is over its limit',
    unit: '{request}',
  });
  const dropped = meter().createCounter('clinical_launch.refusals.dropped', {
    description:
      'Audit events of refusals that were not stored, because their share of Redis is full or Redis is unavailable',
    unit: '{event}',
  });
  return {
    limited: () => limited.add(1),
    dropped: (count) => {
      if (count > 0) dropped.add(count);
    },
  };
}
