import { resourceOf, type Telemetry } from '@clinical-launch/process/telemetry-settings';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Loop } from '@clinical-launch/runtime/loop';
import { loadLogExporter, SeverityNumber } from '@clinical-launch/runtime/open-telemetry';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { AuditOutcome } from '../domain/audit-row.ts';
import type { ChainReader } from '../store/chain-reader.ts';
import type { ExportedRow, ReadExportedRows } from '../store/exported-rows.ts';
import type { Progress } from '../store/progress.ts';
import { startRepeated } from './repeated.ts';

const name = 'export logs';
const everyMs = 5000;
/** One batch sends the events of a second. */
const gatherMs = 1000;
/** Longer than a run with the default time-out of the exporter (10 s), so that one replica sends at a time. */
const leaseMs = 30_000;
/** The milliseconds after which a run starts no further batch. */
const runMs = 10_000;
const batchRows = 500;

type ExportOptions = {
  readonly chain: Pick<ChainReader, 'partitions'>;
  readonly rows: ReadExportedRows;
  readonly progress: Progress;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Sends every row of the log to a collector as an OTLP log record, each at least once and in the order of its
 * partition. The position of each partition advances when the collector has accepted a batch. Returns
 * undefined if `OTEL_LOGS_EXPORTER` is not `otlp`.
 */
export function startLogExport(options: ExportOptions): Pick<Loop, 'nudge' | 'stop'> | undefined {
  const { telemetry, progress, clock, logger } = options;
  if (!telemetry.sendsLogs) return undefined;
  const { OTLPLogExporter } = loadLogExporter();
  const exporter = new OTLPLogExporter({ headers: telemetry.headers });
  const send = (records: ReadableLogRecord[]) =>
    new Promise<void>((resolve, reject) => {
      exporter.export(records, ({ error }) => (error === undefined ? resolve() : reject(error)));
    });
  const work = async (stopping: AbortSignal) => {
    if (!(await progress.claim(name, leaseMs, new Date(clock.now())))) return;
    try {
      await exportRows({ ...options, send, stopping });
    } finally {
      // Ends the lease, so that any replica can continue.
      await progress.record(`claim ${name}`, 0, new Date(0));
    }
  };
  const repeated = startRepeated({ name, everyMs, gatherMs, logger, work });
  return {
    nudge: repeated.nudge,
    async stop() {
      await repeated.stop();
      await exporter.shutdown();
    },
  };
}

type RunOptions = ExportOptions & {
  readonly send: (records: ReadableLogRecord[]) => Promise<void>;
  readonly stopping: AbortSignal;
};

async function exportRows({ chain, rows, progress, clock, send, stopping }: RunOptions): Promise<void> {
  const end = performance.now() + runMs;
  for (const partition of await chain.partitions()) {
    const position = `${name} ${partition}`;
    let { place } = (await progress.find(position)) ?? { place: 0 };
    while (!stopping.aborted && performance.now() < end) {
      const batch = await rows(partition, place, batchRows);
      const last = batch.at(-1);
      if (last === undefined) break;
      const now = clock.now();
      await send(batch.map((row) => recordOf(row, now)));
      place = Number(last.sequence);
      await progress.record(position, place, new Date(now));
    }
  }
}

const scope = { name: 'clinical-launch.audit' };
const resource = resourceOf('audit-trail');
const timeOf = (ms: number): [number, number] => [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000];

const severities: Readonly<Record<AuditOutcome, object>> = {
  success: { severityNumber: SeverityNumber.INFO, severityText: 'INFO' },
  refused: { severityNumber: SeverityNumber.WARN, severityText: 'WARN' },
  failed: { severityNumber: SeverityNumber.ERROR, severityText: 'ERROR' },
};

/** Converts a row to a log record (OpenTelemetry logs data model), without its null columns. */
function recordOf(row: ExportedRow, observedAt: number): ReadableLogRecord {
  const attributes = {
    'cloudevents.event_id': row.id,
    'cloudevents.event_source': row.source,
    'cloudevents.event_type': row.type,
    'client.address': row.address,
    'http.response.status_code': row.status,
    'user.name': row.user_name,
    'clinical_launch.audit.sequence': Number(row.sequence),
    'clinical_launch.correlation.id': row.correlation_id,
    'clinical_launch.launch.id': row.launch_id,
    'clinical_launch.outcome': row.outcome,
    'clinical_launch.reason': row.reason,
    'clinical_launch.issuer': row.issuer,
    'clinical_launch.client.id': row.client_id,
    'clinical_launch.practice': row.practice,
    'clinical_launch.action': row.action,
  };
  const known = Object.entries(attributes).filter(([, value]) => value !== null);
  return {
    hrTime: timeOf(row.time.getTime()),
    hrTimeObserved: timeOf(observedAt),
    spanContext: { traceId: row.trace_id, spanId: '0000000000000000', traceFlags: 0 },
    ...severities[row.outcome as AuditOutcome],
    eventName: row.type,
    body: row.reason === null ? row.type : `${row.type}: ${row.reason}`,
    attributes: Object.fromEntries(known) as Record<string, string | number>,
    droppedAttributesCount: 0,
    resource,
    instrumentationScope: scope,
  };
}
