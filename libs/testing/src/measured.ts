import { MeterProvider, MetricReader, metrics } from '@clinical-launch/runtime/open-telemetry';

export type Measured = ReturnType<typeof startMeasuring>;

/**
 * Collects the metrics of this process until `stop`. Call it before the measured parts are created: without
 * it, their measurements have no effect.
 */
export function startMeasuring() {
  const reader = new Collector();
  // A test that failed may have left its provider, which would not be replaced.
  metrics.disable();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return {
    /**
     * Returns the values of a metric by the values of its attributes, such as `{ 'pms-demo': 1 }`. The value
     * of a histogram is its number of measurements and their sum.
     */
    async read(name: string): Promise<Record<string, unknown>> {
      const { resourceMetrics } = await reader.collect();
      const found = resourceMetrics.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .find(({ descriptor }) => descriptor.name === name);
      return Object.fromEntries(
        (found?.dataPoints ?? []).map(({ attributes, value }) => [
          Object.values(attributes).join(' '),
          typeof value === 'object'
            ? { count: value.count, sum: 'sum' in value ? value.sum : undefined }
            : value,
        ]),
      );
    },
    stop: () => metrics.disable(),
  };
}

class Collector extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}
