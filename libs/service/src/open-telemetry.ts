import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * OpenTelemetry's packages for CommonJS: the exporter's module for `import` imports `node:http`, at the cost
 * described in node-http.ts.
 */
export const { metrics } = require('@opentelemetry/api') as typeof import('@opentelemetry/api');
export const { PrometheusExporter } =
  require('@opentelemetry/exporter-prometheus') as typeof import('@opentelemetry/exporter-prometheus');
export const { resourceFromAttributes } =
  require('@opentelemetry/resources') as typeof import('@opentelemetry/resources');
export const { MeterProvider } =
  require('@opentelemetry/sdk-metrics') as typeof import('@opentelemetry/sdk-metrics');
