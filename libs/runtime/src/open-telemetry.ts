import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Loads the CommonJS builds of OpenTelemetry. Its ES modules import `node:http`, which is slow (see
 * node-http.ts).
 */
export const { context, DiagLogLevel, diag, metrics, SeverityNumber, SpanStatusCode, trace } =
  require('@opentelemetry/api') as typeof import('@opentelemetry/api');
export const { parseKeyPairsIntoRecord } =
  require('@opentelemetry/core') as typeof import('@opentelemetry/core');
export const {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} = require('@opentelemetry/resources') as typeof import('@opentelemetry/resources');
export const { DataPointType, MeterProvider, MetricReader, PeriodicExportingMetricReader } =
  require('@opentelemetry/sdk-metrics') as typeof import('@opentelemetry/sdk-metrics');

/** Loads the exporter that pushes metrics by OTLP over HTTP, which most processes do not need. */
export const loadMetricExporter = () =>
  require('@opentelemetry/exporter-metrics-otlp-proto') as typeof import('@opentelemetry/exporter-metrics-otlp-proto');

/** Loads the exporter of log records by OTLP over HTTP, which only the audit trail may need. */
export const loadLogExporter = () =>
  require('@opentelemetry/exporter-logs-otlp-proto') as typeof import('@opentelemetry/exporter-logs-otlp-proto');

/** Loads the packages of traces, which a process without traces does not need. */
export const loadTracing = () => ({
  ...(require('@opentelemetry/context-async-hooks') as typeof import('@opentelemetry/context-async-hooks')),
  ...(require('@opentelemetry/exporter-trace-otlp-proto') as typeof import('@opentelemetry/exporter-trace-otlp-proto')),
  ...(require('@opentelemetry/sdk-trace') as typeof import('@opentelemetry/sdk-trace')),
});
