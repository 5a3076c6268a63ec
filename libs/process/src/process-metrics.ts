import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '@clinical-launch/runtime/logger';
import {
  loadMetricExporter,
  MeterProvider,
  MetricReader,
  metrics,
  PeriodicExportingMetricReader,
} from '@clinical-launch/runtime/open-telemetry';
import type { MetricReader as Reader } from '@opentelemetry/sdk-metrics';
import { reportFailures } from './exporters.ts';
import { openMetricsType, prometheusType, writeMetrics } from './prometheus-text.ts';
import { observeRuntime } from './runtime-metrics.ts';
import { resourceOf, type Telemetry } from './telemetry-settings.ts';

/**
 * The milliseconds that a scrape waits for the values of all parts. This wait is shorter than the scrape
 * timeout of Prometheus. If a part does not answer, only its metrics are therefore missing.
 */
const collectWithinMs = 3000;

export type ProcessMetrics = {
  /** Answers a scrape. If the scraper accepts OpenMetrics, answers in that format, with exemplars. */
  readonly answer: RequestListener;
  stop(): Promise<void>;
};

type MetricsOptions = {
  readonly service: string;
  readonly telemetry: Telemetry;
  readonly logger: Logger;
};

/**
 * Measures this process. Prometheus fetches the metrics at `/metrics` of the admin port. If an OTLP endpoint
 * is configured, also pushes the metrics there.
 */
export function startMetrics({ service, telemetry, logger }: MetricsOptions): ProcessMetrics {
  const scraped = new ScrapedReader();
  const provider = new MeterProvider({
    readers: [scraped, ...pushReaders(telemetry, logger)],
    resource: resourceOf(service),
  });
  metrics.setGlobalMeterProvider(provider);
  observeRuntime();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { resourceMetrics, errors } = await scraped.collect({ timeoutMillis: collectWithinMs });
    for (const error of errors) logger.warn({ err: error }, 'some metrics could not be collected');
    const isOpenMetrics = request.headers.accept?.includes('application/openmetrics-text') === true;
    response.setHeader('Content-Type', isOpenMetrics ? openMetricsType : prometheusType);
    response.end(writeMetrics(resourceMetrics, isOpenMetrics));
  };
  return {
    answer: (request, response) => {
      answer(request, response).catch((error: unknown) => {
        logger.error({ err: error }, 'the metrics could not be collected');
        response.destroy();
      });
    },
    // An unavailable collector must not delay the end of the process.
    stop: () => provider.shutdown({ timeoutMillis: collectWithinMs }).catch(() => undefined),
  };
}

function pushReaders({ pushesMetrics, settings, headers }: Telemetry, logger: Logger): Reader[] {
  if (!pushesMetrics) return [];
  const { OTLPMetricExporter } = loadMetricExporter();
  const exporter = new OTLPMetricExporter({ headers: headers.metrics });
  reportFailures(exporter, { sent: 'metrics', logger });
  return [
    new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: settings.OTEL_METRIC_EXPORT_INTERVAL,
      exportTimeoutMillis: Math.min(settings.OTEL_METRIC_EXPORT_INTERVAL, 30_000),
    }),
  ];
}

/** A reader that collects the metrics only when they are scraped, with cumulative values. */
class ScrapedReader extends MetricReader {
  protected onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}
