import type { Logger } from '@clinical-launch/runtime/logger';
import { DiagLogLevel, diag } from '@clinical-launch/runtime/open-telemetry';

const maxLength = 300;

/**
 * Logs the warnings of OpenTelemetry, such as the number of records that a collector rejected from a batch
 * that it accepted (OTLP, partial success). Logs only texts: other values may be the exported data.
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
