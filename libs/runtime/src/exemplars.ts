/** The most recent measurement of a histogram bucket, with the trace that it belongs to (OpenMetrics). */
export type Exemplar = {
  readonly traceId: string;
  readonly spanId: string;
  readonly value: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};

type Measured = { readonly traceparent: string; readonly value: number; readonly at: number };

/** The latest measurement of each bucket of one series; undefined for a bucket without one. */
export type BucketExemplars = (Measured | undefined)[];

const kept = new Map<string, BucketExemplars>();

/**
 * Returns the exemplars of a series, which its recorder fills. The SDK for metrics has none. They are kept
 * for the process, as the metrics of OpenTelemetry are.
 */
export function exemplarsOfSeries(metric: string, attributes: object): BucketExemplars {
  const key = keyOf(metric, attributes);
  const known = kept.get(key) ?? [];
  kept.set(key, known);
  return known;
}

/** Returns the exemplar of a bucket, by its place in the order of the boundaries. */
export function findExemplar(metric: string, attributes: object, bucket: number): Exemplar | undefined {
  const measured = kept.get(keyOf(metric, attributes))?.[bucket];
  if (measured === undefined) return undefined;
  const { traceparent, value, at } = measured;
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), value, at };
}

const keyOf = (metric: string, attributes: object) => metric + JSON.stringify(attributes);

/** Returns whether a trace is sampled, so that its spans exist (W3C Trace Context section 3.2.2.5). */
export const isSampled = (traceparent: string): boolean =>
  (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
