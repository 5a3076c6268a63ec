import { randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { optionalText, type Static, Type } from '@clinical-launch/contracts/type';
import { ConfigurationError, type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import { version } from '@clinical-launch/runtime/logger';
import {
  detectResources,
  parseKeyPairsIntoRecord,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@clinical-launch/runtime/open-telemetry';
import type { Resource } from '@opentelemetry/resources';

const address = { pattern: '^https?://', description: 'must be an http or https address' };
const pairs = { description: 'must be name=value, separated by commas' };
/** The value of a header may contain `=`, as base64 does. */
const headers = { ...pairs, pattern: '^[^=,]+=[^,]+(,[^=,]+=[^,]+)*,?$' };
const attributes = { ...pairs, pattern: '^[^=,]+=[^=,]*(,[^=,]+=[^=,]*)*,?$' };
const headersFor = (sent: string) =>
  optionalText({
    ...headers,
    title: `Headers for ${sent} only. They have precedence over \`OTEL_EXPORTER_OTLP_HEADERS\`.`,
  });
const file = (title: string) => optionalText({ title });
const protocol = optionalText({
  pattern: '^http/protobuf$',
  description: 'must be http/protobuf, because no other protocol is supported',
  title: 'Only `http/protobuf` is supported.',
});

/**
 * The standard variables of OpenTelemetry (OpenTelemetry specification, environment variables) that processes
 * read or refuse. The exporters read the other variables that begin with `OTEL_EXPORTER_OTLP_`.
 */
export const telemetrySettings = Type.Object({
  OTEL_SDK_DISABLED: Type.Boolean({
    default: false,
    title: '`true`: no spans, metrics or log records are sent. `/metrics` of the admin port still answers.',
  }),
  OTEL_SERVICE_NAME: optionalText({
    title:
      'The `service.name` of spans and metrics. If unset, it is the name of the service, which rules and dashboards expect.',
  }),
  OTEL_RESOURCE_ATTRIBUTES: optionalText({
    ...attributes,
    title:
      'Attributes of spans and metrics, such as `deployment.environment.name=production`. `service.version` and `service.instance.id` are always set.',
  }),
  OTEL_TRACES_EXPORTER: Type.Enum(['otlp', 'none'], {
    default: 'otlp',
    title: '`none`: no spans are sent.',
  }),
  OTEL_METRICS_EXPORTER: Type.Enum(['otlp', 'prometheus', 'none'], {
    default: 'otlp',
    title: '`prometheus` or `none`: no metrics are pushed. Prometheus can always fetch them.',
  }),
  OTEL_LOGS_EXPORTER: Type.Enum(['otlp', 'none'], {
    default: 'none',
    title: '`otlp`: the audit trail sends its events as log records, without patient data.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalText({
    ...address,
    title:
      'The OpenTelemetry collector, for instance `http://otel-collector:4318`. Without it, no spans, metrics or log records are sent.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optionalText({
    ...address,
    title:
      'The whole address for spans. If unset, spans go to `OTEL_EXPORTER_OTLP_ENDPOINT` followed by `/v1/traces`.',
  }),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: optionalText({
    ...address,
    title: 'The whole address for pushed metrics. It has precedence over `OTEL_EXPORTER_OTLP_ENDPOINT`.',
  }),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: optionalText({
    ...address,
    title: 'The whole address for log records. It has precedence over `OTEL_EXPORTER_OTLP_ENDPOINT`.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optionalText({
    ...headers,
    title: 'Headers for the collector, such as a key: `name=value`, separated by commas, percent-encoded.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headersFor('spans'),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headersFor('metrics'),
  OTEL_EXPORTER_OTLP_LOGS_HEADERS: headersFor('log records'),
  OTEL_EXPORTER_OTLP_CERTIFICATE: file(
    'Path of a PEM file with the certificate authorities of the collector.',
  ),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file(
    'Path of a PEM file with the client certificate that the collector requires.',
  ),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: file('Path of a PEM file with the private key of the client certificate.'),
  OTEL_EXPORTER_OTLP_COMPRESSION: Type.Enum(['none', 'gzip'], {
    default: 'none',
    title: 'Whether the data for the collector is compressed: `none` or `gzip`.',
  }),
  // A batch of the audit trail must end within 30 s, because another replica may claim the export after that
  // time.
  OTEL_EXPORTER_OTLP_TIMEOUT: Type.Integer({
    minimum: 1,
    maximum: 15_000,
    default: 10_000,
    title: 'Milliseconds that the collector may take to accept a request: at most 15000.',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: protocol,
  OTEL_TRACES_SAMPLER: Type.Enum(['always_on', 'always_off', 'traceidratio'], {
    default: 'always_on',
    title:
      'Which traces are sent: `always_on`, `always_off` or `traceidratio`. With `always_on` the collector samples whole traces. A parent-based sampler is refused: it would drop the traces of all launches, because they begin without a sampled parent.',
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    title: 'The share of traces that `traceidratio` sends.',
  }),
  OTEL_BSP_SCHEDULE_DELAY: Type.Integer({
    minimum: 1,
    default: 5000,
    title: 'Milliseconds that spans wait to be sent together. A process that is killed loses these spans.',
  }),
  OTEL_METRIC_EXPORT_INTERVAL: Type.Integer({
    minimum: 1000,
    default: 60_000,
    title: 'Milliseconds between two pushes of metrics.',
  }),
});

/** The telemetry that a process sends to a collector. */
export type Telemetry = {
  readonly settings: Readonly<Static<typeof telemetrySettings>>;
  readonly sendsSpans: boolean;
  readonly pushesMetrics: boolean;
  /** Whether the audit trail sends its events as log records. */
  readonly sendsLogs: boolean;
  /**
   * The headers for each kind of data. Pass them to the exporters, which would not find headers that came
   * from a file.
   */
  readonly headers: Readonly<Record<'traces' | 'metrics' | 'logs', Readonly<Record<string, string>>>>;
};

const fileSettings = [
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_KEY',
] as const;

/**
 * Reads the standard variables. Without an endpoint, nothing is sent. @throws ConfigurationError, also for a
 * file that cannot be read
 */
export function readTelemetry(environment: Environment): Telemetry {
  const settings = readEnvironment(telemetrySettings, environment);
  const unreadable = fileSettings.filter((name) => !isReadable(settings[name]));
  if (unreadable.length > 0) throw new ConfigurationError(unreadable.map((name) => `${name} cannot be read`));
  const headersOf = (own: string | undefined) => ({
    ...parseKeyPairsIntoRecord(settings.OTEL_EXPORTER_OTLP_HEADERS),
    ...parseKeyPairsIntoRecord(own),
  });
  const sends = (exporter: string, own: string | undefined) =>
    !settings.OTEL_SDK_DISABLED &&
    exporter === 'otlp' &&
    (own ?? settings.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  return {
    settings,
    sendsSpans: sends(settings.OTEL_TRACES_EXPORTER, settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
    pushesMetrics: sends(settings.OTEL_METRICS_EXPORTER, settings.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT),
    sendsLogs: sends(settings.OTEL_LOGS_EXPORTER, settings.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT),
    headers: {
      traces: headersOf(settings.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
      metrics: headersOf(settings.OTEL_EXPORTER_OTLP_METRICS_HEADERS),
      logs: headersOf(settings.OTEL_EXPORTER_OTLP_LOGS_HEADERS),
    },
  };
}

function isReadable(path: string | undefined): boolean {
  if (path === undefined) return true;
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const instanceId = randomUUID();

/**
 * Returns the resource of this process, the same for spans, metrics and log records (semantic conventions for
 * services). `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` replace its attributes.
 */
export function resourceOf(service: string): Resource {
  const attributes = {
    'service.namespace': 'clinical-launch',
    'service.name': service,
    'service.version': version,
    'service.instance.id': instanceId,
  };
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector];
  return resourceFromAttributes(attributes).merge(detectResources({ detectors }));
}
