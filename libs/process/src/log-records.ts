import { loadLogExporter, SeverityNumber } from '@clinical-launch/runtime/open-telemetry';
import type { Attributes } from '@opentelemetry/api';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { resourceOf, type Telemetry } from './telemetry-settings.ts';

/** A record of an event (OpenTelemetry logs data model). */
export type LogRecord = {
  readonly eventName: string;
  /** The Unix time of the event in milliseconds. `observedAt` has the same unit. */
  readonly at: number;
  readonly observedAt: number;
  /** The 32 hexadecimal digits of the trace. */
  readonly traceId: string;
  readonly severity: 'INFO' | 'WARN' | 'ERROR';
  readonly body: string;
  readonly attributes: Attributes;
};

/** Sends log records by OTLP over HTTP. */
export type LogSender = {
  /** Resolves when the collector has accepted the records. @throws Error if the collector refuses them */
  send(records: readonly LogRecord[]): Promise<void>;
  stop(): Promise<void>;
};

const timeOf = (ms: number): [number, number] => [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000];
const noSpan = '0'.repeat(16);

/**
 * Opens the sender of a service's log records. Returns undefined if no log records are sent (`sendsLogs`).
 */
export function openLogSender({ sendsLogs, headers }: Telemetry, service: string): LogSender | undefined {
  if (!sendsLogs) return undefined;
  const { OTLPLogExporter } = loadLogExporter();
  const exporter = new OTLPLogExporter({ headers: headers.logs });
  const common = {
    resource: resourceOf(service),
    instrumentationScope: { name: `clinical-launch.${service}` },
    droppedAttributesCount: 0,
  };
  const readable = ({ at, observedAt, traceId, severity, ...record }: LogRecord): ReadableLogRecord => ({
    ...common,
    ...record,
    hrTime: timeOf(at),
    hrTimeObserved: timeOf(observedAt),
    spanContext: { traceId, spanId: noSpan, traceFlags: 0 },
    severityText: severity,
    severityNumber: SeverityNumber[severity],
  });
  return {
    send: (records) =>
      new Promise((resolve, reject) => {
        exporter.export(records.map(readable), ({ error }) =>
          error === undefined ? resolve() : reject(error),
        );
      }),
    stop: () => exporter.shutdown(),
  };
}
