import { metrics } from './open-telemetry.ts';

/** The depth of an outbox and the age of its oldest event, for metrics. */
export type OutboxLevel = { readonly depth: number; readonly oldestAgeSeconds: number };

/** Returns the meter of the platform's metrics. In a process without metrics, measurements have no effect. */
export const meter = () => metrics.getMeter('clinical-launch');

/**
 * Observes the depth and age of an outbox at each scrape. If the outbox cannot be read, there are no values.
 */
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

export type AnsweredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** The `traceparent` of the request, to which the exemplar of its duration refers. */
  readonly traceparent?: string;
};

const requestDuration = 'http.server.request.duration';
const requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Returns a function that records the duration of an answered request (OpenTelemetry semantic conventions,
 * `http.server.request.duration`).
 */
export function createRequestMeter(): (request: AnsweredRequest) => void {
  const duration = meter().createHistogram(requestDuration, {
    description: 'Duration of HTTP server requests',
    unit: 's',
    advice: { explicitBucketBoundaries: requestBounds },
  });
  const known = new Map<string, ReturnType<typeof createSeries>>();
  return ({ method, route, status, seconds, traceparent }) => {
    const name = `${method} ${status} ${route}`;
    let series = known.get(name);
    if (series === undefined) {
      series = createSeries(method, route, status);
      known.set(name, series);
    }
    duration.record(seconds, series.attributes);
    if (traceparent !== undefined && isSampled(traceparent))
      series.exemplars[bucketOf(seconds)] = { traceparent, value: seconds, at: Date.now() };
  };
}

function createSeries(method: string, route: string, status: number) {
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
  };
  return { attributes, exemplars: exemplarsOfSeries(requestDuration, attributes) };
}

/** Returns the index of a bucket. Upper bounds are inclusive, and the last bucket has no upper bound. */
function bucketOf(seconds: number): number {
  const bucket = requestBounds.findIndex((bound) => seconds <= bound);
  return bucket < 0 ? requestBounds.length : bucket;
}

/** Counts refused requests from addresses over their limit, and audit events that were dropped. */
export type RefusalMeter = { limited(): void; dropped(count: number): void };

/**
 * Creates the counters of refusals that were answered 429, and of dropped audit events of refused requests.
 */
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
  // Starts at 0, because Prometheus sees no increase in a series whose first value is already 1.
  limited.add(0);
  dropped.add(0);
  return {
    limited: () => limited.add(1),
    dropped: (count) => {
      if (count > 0) dropped.add(count);
    },
  };
}

/** The most recent measurement of a histogram bucket, with the trace that it belongs to (OpenMetrics). */
export type Exemplar = {
  readonly traceId: string;
  readonly spanId: string;
  readonly value: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};

type Measured = { readonly traceparent: string; readonly value: number; readonly at: number };

/** The latest measurement of each bucket of one series; undefined for a bucket without a measurement. */
export type BucketExemplars = (Measured | undefined)[];

const exemplars = new Map<string, BucketExemplars>();

/**
 * Returns the exemplars of a series. The code that records measurements must set them, because the metrics
 * SDK does not support exemplars. Each process stores its own exemplars and metrics.
 */
export function exemplarsOfSeries(metric: string, attributes: object): BucketExemplars {
  const key = keyOf(metric, attributes);
  const known = exemplars.get(key) ?? [];
  exemplars.set(key, known);
  return known;
}

/** Returns the exemplar of a bucket, by its index in the order of the boundaries. */
export function findExemplar(metric: string, attributes: object, bucket: number): Exemplar | undefined {
  const measured = exemplars.get(keyOf(metric, attributes))?.[bucket];
  if (measured === undefined) return undefined;
  const { traceparent, value, at } = measured;
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), value, at };
}

const keyOf = (metric: string, attributes: object) => metric + JSON.stringify(attributes);

/** Returns whether a trace is sampled, so that its spans exist (W3C Trace Context section 3.2.2.5). */
export const isSampled = (traceparent: string): boolean =>
  (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
