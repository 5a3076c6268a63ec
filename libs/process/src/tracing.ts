import { withTimeout } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { context, loadTracing, trace } from '@clinical-launch/runtime/open-telemetry';
import { enableTracing, traceIds } from '@clinical-launch/runtime/tracing';
import { reportFailures } from './exporters.ts';
import { resourceOf, type Telemetry } from './telemetry-settings.ts';

/** The maximum milliseconds that an ending process waits until its last spans are sent. */
const flushWithinMs = 3000;

/**
 * Creates spans from now on and sends them to a collector (OTLP over HTTP, protobuf). Without a configured
 * sampler it sends all spans. The collector then samples whole traces, because only the collector knows which
 * trace failed or was slow. Loads the SDK only if spans are sent.
 */
export function startTracing(
  { sendsSpans, settings, headers }: Telemetry,
  { name, logger }: { readonly name: string; readonly logger: Logger },
): { stop(): Promise<void> } {
  if (!sendsSpans) return { stop: async () => undefined };
  const sdk = loadTracing();
  const samplers = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG),
  };
  const exporter = new sdk.OTLPTraceExporter({ headers: headers.traces });
  reportFailures(exporter, { sent: 'spans', logger });
  const batches = new sdk.BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceOf(name),
    sampler: samplers[settings.OTEL_TRACES_SAMPLER](),
    spanProcessors: [batches],
    idGenerator: traceIds,
    // Allows many links, because the span of a batch of events links to the span of each event.
    spanLimits: { linkCountLimit: 256, attributeValueLengthLimit: 200 },
  });
  context.setGlobalContextManager(new sdk.AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(provider);
  enableTracing();
  return {
    stop: () =>
      withTimeout(flushWithinMs, provider.shutdown()).catch((error: unknown) =>
        logger.warn({ err: error }, 'the last spans were not sent'),
      ),
  };
}
