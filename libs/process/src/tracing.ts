import { Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import { type Logger, version } from '@clinical-launch/runtime/logger';
import {
  context,
  detectResources,
  loadTracing,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
  trace,
} from '@clinical-launch/runtime/open-telemetry';
import { within } from '@clinical-launch/runtime/time-out';
import { enableTracing, traceIds } from '@clinical-launch/runtime/tracing';
import type { SpanExporter } from '@opentelemetry/sdk-trace';

/** Variables of OpenTelemetry. The exporter reads the others that begin with `OTEL_EXPORTER_OTLP_`. */
export const tracingSettings = Type.Object({
  OTEL_SDK_DISABLED: Type.Boolean({ default: false, title: '`true` switches traces off.' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      title:
        'The OpenTelemetry collector, for instance `http://otel-collector:4318`. Without it, no spans are sent and no metrics are pushed.',
    }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Type.Optional(
    Type.String({
      title: 'The whole address for spans. Without it: the address above, followed by `/v1/traces`.',
    }),
  ),
  OTEL_BSP_SCHEDULE_DELAY: Type.Integer({
    minimum: 1,
    default: 5000,
    title: 'Milliseconds that spans wait to be sent together. A process that is killed loses these spans.',
  }),
});

/** The settings of traces; undefined if they are off. */
export type TracingSettings = ReturnType<typeof readTracing>;

/** Reads the standard variables. Without an endpoint, traces are off. @throws ConfigurationError */
export function readTracing(environment: Environment) {
  const read = readEnvironment(tracingSettings, environment);
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own = all } = read;
  if (own === undefined || read.OTEL_SDK_DISABLED) return undefined;
  return { delayMs: read.OTEL_BSP_SCHEDULE_DELAY };
}

/** Milliseconds that the end of a process waits for its last spans to be sent. */
const flushWithinMs = 3000;

/**
 * Creates spans from now on and sends all of them to a collector (OTLP over HTTP, protobuf), which samples
 * whole traces: only it knows which trace failed or was slow. Loads the SDK only if traces are on.
 */
export function startTracing(
  settings: TracingSettings,
  { name, logger }: { readonly name: string; readonly logger: Logger },
): { stop(): Promise<void> } {
  if (settings === undefined) return { stop: async () => undefined };
  const sdk = loadTracing();
  const batches = new sdk.BatchSpanProcessor({
    exporter: reporting(new sdk.OTLPTraceExporter(), logger),
    scheduledDelayMillis: settings.delayMs,
  });
  const provider = new sdk.TracerProvider({
    // OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME replace these.
    resource: resourceFromAttributes({ 'service.name': name, 'service.version': version }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [batches],
    idGenerator: traceIds,
    // A batch of events has a link to each of them.
    spanLimits: { linkCountLimit: 256, attributeValueLengthLimit: 200 },
  });
  context.setGlobalContextManager(new sdk.AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(provider);
  enableTracing();
  return { stop: () => stopWithin(provider.shutdown(), logger) };
}

async function stopWithin(flushed: Promise<void>, logger: Logger): Promise<void> {
  await within(flushWithinMs, flushed).catch((error: unknown) =>
    logger.warn({ err: error }, 'the last spans were not sent'),
  );
}

/** Logs when the collector becomes unavailable and when it is available again. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined;
        if (hasFailed && !isFailing)
          logger.warn({ err: result.error }, 'spans are lost: the collector does not accept them');
        if (!hasFailed && isFailing) logger.info({}, 'the collector accepts spans again');
        isFailing = hasFailed;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
