import type { Logger } from '@clinical-launch/runtime/logger';
import { DiagLogLevel, diag } from '@clinical-launch/runtime/open-telemetry';
import type { SpanExporter } from '@opentelemetry/sdk-trace';

const maxLength = 300;

/**
 * Logs the warnings of OpenTelemetry, such as the number of records that a collector rejected from a batch
 * that it accepted (OTLP, partial success). Logs only strings, because other arguments may be exported data.
 */
export function logTelemetryWarnings(logger: Logger): void {
  const ignore = () => undefined;
  const warn = (...parts: unknown[]) => {
    const text = parts.filter((part) => typeof part === 'string').join(' ');
    logger.warn({ warning: text.slice(0, maxLength) }, 'OpenTelemetry warns');
  };
  const levels = { error: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger({ ...levels, warn }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

type Exporter<Batch> = { export(batch: Batch, done: Parameters<SpanExporter['export']>[1]): void };

/** Logs when the collector becomes unavailable to an exporter and when it is available again. */
export function reportFailures<Batch>(
  exporter: Exporter<Batch>,
  { sent, logger }: { readonly sent: 'spans' | 'metrics'; readonly logger: Logger },
): void {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (batch, done) =>
    send(batch, (result) => {
      const hasFailed = result.error !== undefined;
      if (hasFailed && !isFailing)
        logger.warn({ err: result.error }, `${sent} are lost: the collector does not accept them`);
      if (!hasFailed && isFailing) logger.info({}, `the collector accepts ${sent} again`);
      isFailing = hasFailed;
      done(result);
    });
}
